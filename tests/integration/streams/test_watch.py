"""The readiness of a Faust app on a real broker: its partitions, what waits, an agent that has ended."""

import asyncio

import pytest

from services.runtime.asking import stop_watching
from services.runtime.health import Progress
from services.runtime.settings import Settings
from services.runtime.topics import tasks
from services.streams import watch
from services.streams.watch import watch_stream
from tests.conftest import TEST_PARTITIONS
from tests.eventually import eventually
from tests.integration.streams.taking import KIND, Taking, Transactions, consuming

pytestmark = pytest.mark.kafka
JOIN_SECONDS = 60.0


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "EVERY_SECONDS", 0.1)


async def test_it_is_ready_with_its_partitions_and_tells_how_many_records_are_not_done(ledger: Settings) -> None:
    transactions = Transactions(ledger)
    transactions.put(b"task-1", b"task-2")
    taking, progress = Taking(hold=lambda record: record.value == b"task-2"), Progress("tasks")
    async with consuming(ledger, taking) as app:
        watching = asyncio.create_task(watch_stream(ledger, app, tasks(ledger, KIND), taking.loop, progress))
        await eventually(lambda: progress.state().get("assigned") == TEST_PARTITIONS, JOIN_SECONDS)
        await eventually(lambda: len(taking.taken) == 2, JOIN_SECONDS)
        await eventually(lambda: progress.state()["lag"] == 1, JOIN_SECONDS)
        assert progress.state()["ready"], "it is taken, and runs"
        taking.finish()
        await eventually(lambda: progress.state()["lag"] == 0, JOIN_SECONDS)
        await stop_watching([watching])


async def test_an_agent_that_has_ended_turns_the_process_red(ledger: Settings) -> None:
    taking, progress = Taking(), Progress("tasks")
    async with consuming(ledger, taking) as app:
        watching = asyncio.create_task(watch_stream(ledger, app, tasks(ledger, KIND), taking.loop, progress))
        await eventually(lambda: progress.state()["ready"], JOIN_SECONDS)
        for agent in app.agents.values():
            agent.cancel()
        await eventually(lambda: "its loop has ended" in progress.state().get("reason", ""))
        await stop_watching([watching])


async def test_records_that_nobody_takes_are_a_standstill(ledger: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.runtime.standstill.STANDSTILL_SECONDS", 0.2)
    taking, progress = Taking(), Progress("tasks")
    async with consuming(ledger, taking) as app:
        watching = asyncio.create_task(watch_stream(ledger, app, tasks(ledger, KIND), taking.loop, progress))
        await eventually(lambda: progress.state()["ready"], JOIN_SECONDS)
        app.flow_control.suspend()
        Transactions(ledger).put(b"task-1")
        await eventually(lambda: "are not taken" in progress.state().get("reason", ""), 20.0)
        app.flow_control.resume()
        await eventually(lambda: progress.state()["ready"] and progress.state()["lag"] == 0, 20.0)
        await stop_watching([watching])
