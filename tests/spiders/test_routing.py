"""Requests of spiders through an unblocker, from the middleware in the process to the count that the ledger meters."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from services.ledger.reports import Extracted
from services.workers.spiders.unblocker import Unblocker, unblocker
from tests.spiders.runs import Run, run
from tests.spiders.unblockers import KEY, Unblocking, unblocking
from tests.unit.workers.spiders.test_unblocker import SETTINGS


@pytest.fixture(autouse=True)
def folders(tmp_path: Path) -> None:
    for name in ("run", "unblocker"):
        (tmp_path / name).mkdir()


@asynccontextmanager
async def routes(folder: Path, key: str = KEY) -> AsyncIterator[tuple[Unblocker, Unblocking]]:
    async with unblocking(folder) as known:
        settings = replace(SETTINGS, unblocker_url=known.url, unblocker_ca=str(known.ca), unblocker_key=key)
        async with unblocker(settings) as ours:
            assert ours is not None
            yield ours, known


def pages(came: Run) -> dict[str, object]:
    return {each["url"].rpartition("/")[2]: each["json"] for each in came.items if "url" in each}


@pytest.mark.parametrize(
    ("unblock", "through"), [("off", set()), ("marked", {"2"}), ("all", {"1", "2"})], ids=["off", "marked", "all"]
)
async def test_requests_that_are_to_be_routed_are_made_by_the_worker_and_counted(
    unblock: str, through: set[str], tmp_path: Path
) -> None:
    async with routes(tmp_path / "unblocker") as (ours, known):
        came = await run(tmp_path / "run", "endless", "blocked", unblock=unblock, proxy_country="DE", unblocker=ours)
    assert isinstance(came.outcome, Extracted), came.outcome
    assert pages(came) == {each: ["routed"] if each in through else list(range(int(each))) for each in ("1", "2")}
    assert {url.rpartition("/")[2] for _, _, url in known.requests} == through
    assert {user for user, _, _ in known.requests} <= {"me-country-de"}
    assert came.routed == came.stats.get("su_cloud/routed", 0) == len(known.requests)
    assert came.stats["su_cloud/requests_reached_downloader"] == 2
    told = msgspec.json.encode([came.items, came.lines, came.stats]).decode()
    assert KEY not in told
    assert known.url.rpartition(":")[2] not in msgspec.json.encode(came.lines).decode()


async def test_a_wrong_key_fails_the_requests_says_why_and_costs_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with routes(tmp_path / "unblocker", key="wr0ng-key") as (ours, known):
        came = await run(tmp_path / "run", "endless", "blocked", unblock="all", unblocker=ours)
    assert came.failed[0] == "no_successful_request"
    assert known.refused
    assert came.routed == 0
    assert [each for each in came.lines if "JOBLEDGER_UNBLOCKER_USER" in each["message"]]
    assert "wr0ng-key" not in msgspec.json.encode(came.lines).decode() + caplog.text


async def test_without_an_unblocker_only_what_is_routed_fails(tmp_path: Path) -> None:
    came = await run(tmp_path / "run", "endless", "blocked", unblock="marked")
    assert isinstance(came.outcome, Extracted), came.outcome
    assert pages(came) == {"1": [0]}
    assert [each for each in came.lines if "JOBLEDGER_UNBLOCKER_URL" in each["message"]]


async def test_what_a_run_routed_is_told_although_it_was_killed(tmp_path: Path) -> None:
    async with routes(tmp_path / "unblocker") as (ours, known):
        came = await run(
            tmp_path / "run",
            "endless",
            "blocked",
            unblock="marked",
            spider_args={"greedy": "yes"},
            memory_mb=128,
            unblocker=ours,
        )
    assert came.failed[0] == "memory_limit"
    assert came.routed == len(known.requests) == 1
