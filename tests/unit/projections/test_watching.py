"""The service that verifies: what it found is told, what is mended is told too, what cannot be verified is red."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from prometheus_client import REGISTRY

from projections.verification.__main__ import main
from projections.verification.faults import Fault, Report
from projections.verification.watching import Watch, pause_after
from services.runtime.errors import BrokerFault
from services.runtime.health import Progress
from services.runtime.settings import Settings
from tests.eventually import eventually

PARTITION = "977"  # of no other test: metrics are shared by the whole run
TABLE = "watched_table"
GOOD = Report({int(PARTITION): 41}, 41, 3, {TABLE: 3}, [])
BAD = Report({int(PARTITION): 42}, 42, 3, {TABLE: 3}, [Fault(TABLE, "acme", "j1", "status", "pending", "running")] * 2)


def told(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(f"jobledger_{name}", labels)


@pytest.fixture
def verdicts() -> list[Report | Exception]:
    """What each verification comes to, the next one first."""
    return []


@pytest.fixture
def verify(verdicts: list[Report | Exception]) -> Callable[[], Report]:
    def verify() -> Report:
        verdict = verdicts.pop(0) if len(verdicts) > 1 else verdicts[0]
        if isinstance(verdict, Exception):
            raise verdict
        return verdict

    return verify


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("projections.verification.watching.TICK_SECONDS", 0.01)
    monkeypatch.setattr("projections.verification.watching.AGAIN_SECONDS", 0.01)


async def watching(watch: Watch, condition: Callable[[], bool]) -> None:
    task = asyncio.create_task(watch.run())
    try:
        await eventually(condition, 20.0)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_violations_are_counted_by_kind_and_go_back_to_none_once_they_are_mended(
    verify: Callable[[], Report], verdicts: list[Report | Exception]
) -> None:
    progress = Progress("verification")
    verdicts[:] = [GOOD, BAD]
    await watching(Watch(verify, 0.01, progress), lambda: told("verify_violations", kind=TABLE) == 2)
    assert told("verify_good_position", partition=PARTITION) == 41  # not the one of the bad verification
    assert progress.state()["ready"]
    assert progress.state()["violations"] == 2
    verdicts[:] = [BAD, GOOD]
    await watching(Watch(verify, 0.01, progress), lambda: told("verify_violations", kind=TABLE) == 0)
    age = told("verify_good_age")
    assert age is not None
    assert 0 <= age < 60


async def test_a_ledger_that_cannot_be_verified_makes_it_red_until_it_can(
    verify: Callable[[], Report], verdicts: list[Report | Exception]
) -> None:
    progress = Progress("verification")
    verdicts[:] = [BrokerFault("no record for 30 s")]
    failed = told("verify_runs_total", outcome="failed") or 0.0
    watch = Watch(verify, 0.01, progress)
    await watching(watch, lambda: (told("verify_runs_total", outcome="failed") or 0.0) > failed + 2)
    assert not progress.state()["ready"]
    assert progress.state()["reason"] == "cannot verify: no record for 30 s"
    verdicts[:] = [GOOD]
    await watching(watch, lambda: bool(progress.state()["ready"]))


async def test_what_no_waiting_cures_ends_the_process(
    verify: Callable[[], Report], verdicts: list[Report | Exception]
) -> None:
    verdicts[:] = [ZeroDivisionError("a bug")]
    with pytest.raises(ZeroDivisionError):
        await Watch(verify, 0.01, Progress("verification")).run()


def test_it_pauses_three_times_as_long_as_it_took_or_longer() -> None:
    assert (pause_after(2.0, 300.0), pause_after(200.0, 300.0)) == (300.0, 600.0)


async def test_it_has_the_least_priority_before_it_verifies_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []

    async def serve(*_arguments: object) -> SimpleNamespace:
        return SimpleNamespace(close=close)

    async def close() -> None:
        done.append("closed")

    async def run(_watch: Watch) -> None:
        done.append("verifying")

    monkeypatch.setattr("os.nice", done.append)
    monkeypatch.setattr("projections.verification.__main__.serve", serve)
    monkeypatch.setattr(Watch, "run", run)
    await main(Settings(kafka="", postgres="", registry="", blobs=""))
    assert done == [19, "verifying", "closed"]  # 19: nobody goes behind it
