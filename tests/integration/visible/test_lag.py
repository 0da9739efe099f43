"""`jobledger status` tells how far each reader is behind, also of one that stands still."""

import asyncio
from typing import Any

import pytest

from tests.integration.visible.standing import ALLOWED_SECONDS, Standing

pytestmark = pytest.mark.stack
READERS = ("projections", "projections-clickhouse", "workers", "writers", "writers-clickhouse", "writers-webhook")


def readers(standing: Standing) -> dict[str, dict[str, Any]]:
    """Return what `status` says of every reader."""
    return {reader["process"]: reader for reader in standing.command("status")["readers"]}


async def lag_of(standing: Standing, process: str, *, behind: bool) -> dict[str, Any]:
    """Wait until a reader is behind, or is not."""
    async with asyncio.timeout(ALLOWED_SECONDS):
        while True:
            reader = (await asyncio.to_thread(readers, standing))[process]
            if reader["lag"] is not None and (reader["lag"] > 0) is behind:
                return reader


@pytest.mark.parametrize("process", ["projections", "projections-clickhouse", "workers", "writers"])
async def test_a_reader_that_stands_still_is_behind_and_catches_up(standing: Standing, process: str) -> None:
    await standing.until_ready()
    with standing.stopped(process):
        job_id = await asyncio.to_thread(standing.submit)
        reader = await lag_of(standing, process, behind=True)
        places = [place for place in reader["places"] if place["lag"]]
        assert sum(place["lag"] for place in places) == reader["lag"]
        assert all(place["head"] - place["at"] == place["lag"] for place in places)
    await lag_of(standing, process, behind=False)
    await standing.completed(job_id)


async def test_every_reader_has_a_lag_of_nothing_once_nothing_goes_on(standing: Standing) -> None:
    job_id = await asyncio.to_thread(standing.submit)
    await standing.completed(job_id)
    for process in (*READERS, "projections-heads", "decider", "api"):
        reader = await lag_of(standing, process, behind=False)
        assert reader["lag"] == 0, reader


async def test_a_lag_that_nobody_can_tell_is_unknown_and_not_nothing(standing: Standing) -> None:
    with standing.stopped("api"):
        reader = (await asyncio.to_thread(readers, standing))["api"]
        assert reader["lag"] is None
        assert "does not answer" in reader["reason"]
    await standing.until(lambda found: found["api"].state == "ready", "ready again")
