"""`jobledger status` tells how far each reader is behind, also of one that stands still."""

import asyncio

import psycopg
import pytest

from services.cli.lags import ReaderLag, lags_of
from services.localstack.services import LOCAL_WRITERS
from services.localstack.status import look
from services.runtime.settings import settings_from
from services.runtime.topics import deliveries
from tests.integration.visible.standing import ALLOWED_SECONDS, Standing

pytestmark = pytest.mark.stack
READERS = ("projections", "workers", "writers", "writers-clickhouse", "writers-webhook", "writers-customer-postgres")
CONFIGURE = b"""
INSERT INTO config.destinations (org_id, destination_id, kind, gating, on_exhausted)
SELECT org_id, 'nobody-writes-there', 'bigquery', false, 'hold' FROM config.orgs LIMIT 1
"""
FORGET = b"DELETE FROM config.destinations WHERE destination_id = 'nobody-writes-there'"


def readers(standing: Standing) -> dict[str, ReaderLag]:
    """Return how far every reader is behind, as `status` finds it."""
    state = standing.state()
    return {reader.process: reader for reader in lags_of(settings_from(state.environ), look(state))}


async def lag_of(standing: Standing, process: str, *, behind: bool) -> ReaderLag:
    """Wait until a reader is behind, or is not."""
    async with asyncio.timeout(ALLOWED_SECONDS):
        while True:
            reader = (await asyncio.to_thread(readers, standing))[process]
            if reader.lag is not None and (reader.lag > 0) is behind:
                return reader


async def caught_up(standing: Standing, seen: ReaderLag) -> None:
    """Wait until a reader has passed every head that was seen, as an idle ledger goes on with signs of life."""
    assert seen.places
    async with asyncio.timeout(ALLOWED_SECONDS):
        stands: dict[int, int] = {}
        while any(stands.get(place.partition, 0) < place.head for place in seen.places):
            reader = (await asyncio.to_thread(readers, standing))[seen.process]
            stands = {place.partition: place.at for place in reader.places}


@pytest.mark.parametrize("process", ["projections", "projections-clickhouse", "workers", "writers"])
async def test_a_reader_that_stands_still_is_behind_and_catches_up(standing: Standing, process: str) -> None:
    await standing.until_ready()
    with standing.stopped(process):
        job_id = await asyncio.to_thread(standing.submit)
        reader = await lag_of(standing, process, behind=True)
        assert sum(place.lag for place in reader.places) == reader.lag
        assert all(place.head - place.at == place.lag for place in reader.places if place.lag)
    await caught_up(standing, reader)
    await standing.completed(job_id)


async def test_every_reader_has_a_lag_of_nothing_once_nothing_goes_on(standing: Standing) -> None:
    job_id = await asyncio.to_thread(standing.submit)
    await standing.completed(job_id)
    for process in (*READERS, "projections-heads", "snapshotter", "decider", "api"):
        await lag_of(standing, process, behind=False)
    await caught_up(standing, (await asyncio.to_thread(readers, standing))["projections-clickhouse"])


async def test_the_command_tells_a_lag_that_nobody_knows_as_unknown_and_not_as_nothing(standing: Standing) -> None:
    with standing.stopped("api"):
        told = await asyncio.to_thread(standing.command, "status")
        readers = {reader["process"]: reader for reader in told["readers"]}
        assert readers["api"]["lag"] is None
        assert "does not answer" in readers["api"]["reason"]
        assert {(place["partition"], place["lag"]) for place in readers["projections"]["places"]} == {
            (partition, 0) for partition in range(len(readers["projections"]["places"]))
        }
    await standing.until(lambda found: found["api"].state == "ready", "ready again")


async def test_a_kind_of_warehouses_that_nobody_writes_to_has_a_lag_and_a_reason(standing: Standing) -> None:
    await standing.until_ready()
    assert "writers-bigquery" not in await asyncio.to_thread(readers, standing)
    with psycopg.connect(settings_from(standing.state().environ).postgres, autocommit=True) as connection:
        connection.execute(CONFIGURE)
        try:
            found = (await asyncio.to_thread(readers, standing))["writers-bigquery"]
            shown = {each["process"]: each for each in standing.command("status")["readers"]}
        finally:
            connection.execute(FORGET)
    assert (found.reads, found.lag) == (deliveries(settings_from(standing.state().environ), "bigquery"), 0)
    assert LOCAL_WRITERS in found.reason
    assert shown["writers-bigquery"]["reason"] == found.reason
    assert not shown["writers-customer-postgres"]["reason"]
