"""Scenario 58, and destinations that are gone, on the real stack: decider, worker and writers as processes."""

import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from schemas.events import DeliveryDeadLettered, DeliveryWaived, JobCompleted, JobFailed
from schemas.values import After, Destination, OnExhausted
from services.ledger.commands import SettleDeliveries
from services.ledger.reports import DeliveryResult
from services.localstack.ports import port_for
from services.runtime.ids import uuid7
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.workers.plant import ORG, Plant
from tests.unit.workers.fakes import service, workflow

INTERNAL = Destination(destination_id="internal", kind="postgres")
GONE = Destination(destination_id="wh-gone", kind="webhook")
NOTICE = Destination(destination_id="wh-gone:job.failed", kind="webhook", gating=False, after=After.FAILED)
LAKE = Destination(destination_id="lake", kind="clickhouse", on_exhausted=OnExhausted.FAIL, gate_seconds=4)
ELSEWHERE = {"JOBLEDGER_PORT": "0"}  # the decider alone has the port whose metrics are read


@pytest.fixture
async def plant(settings: Settings, tmp_path: Path) -> AsyncIterator[Plant]:
    """A plant whose ClickHouse writer does not run, and whose webhook endpoint was deleted."""
    plant = Plant(dataclasses.replace(settings, port=port_for(tmp_path / "ports.json", "decider")), tmp_path)
    try:
        await plant.open(workflow(service("a")))
        plant.start("services.workers", JOBLEDGER_WORKER_ID="worker-1", **ELSEWHERE)
        plant.start("services.writers", **ELSEWHERE)
        plant.start("services.writers", JOBLEDGER_WRITER_KIND="webhook", **ELSEWHERE)
        yield plant
    finally:
        await plant.close()


async def verdicts(plant: Plant) -> list[str]:
    """Return the lines of the metric that counts the verdicts."""
    url = f"http://127.0.0.1:{plant.settings.port}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        lines = (await answer.text()).splitlines()
    return [line for line in lines if line.startswith("jobledger_gate_verdicts_total{") and not line.endswith(" 0.0")]


async def test_a_destination_that_was_deleted_since_submit_holds_no_job(plant: Plant) -> None:
    job_id = await plant.submit("/p/1", INTERNAL, GONE)
    completed = await plant.until("JobCompleted", job_id, 120)
    [dead] = plant.of("DeliveryDeadLettered", job_id)
    [waived] = plant.of("DeliveryWaived", job_id)
    [acked] = plant.of("DeliveryAcked", job_id)
    assert isinstance(dead.event, DeliveryDeadLettered)
    assert (dead.event.destination_id, dead.event.closed) == ("wh-gone", True)
    assert isinstance(waived.event, DeliveryWaived)
    assert waived.event.reason == "destination_closed"
    assert isinstance(completed, JobCompleted)
    assert set(completed.opened_by) == {waived.header.event_id, acked.header.event_id}


async def test_58_one_writer_down_past_the_deadline_is_a_named_verdict_an_alarm_and_one_notice(plant: Plant) -> None:
    job_id = await plant.submit("/p/2", INTERNAL, LAKE, NOTICE)
    failed = await plant.until("JobFailed", job_id, 120)
    assert isinstance(failed, JobFailed)
    assert (failed.error_type, failed.destination_id) == ("gate_deadline", "lake")
    [extracted], [ended] = plant.of("JobExtracted", job_id), plant.of("JobFailed", job_id)
    assert ended.header.occurred_at - extracted.header.occurred_at >= 4_000_000

    async def alarmed() -> bool:
        lines = await verdicts(plant)
        return any('verdict="failed"' in line and 'reason="gate_deadline"' in line for line in lines)

    await eventually(alarmed, 30)
    late = DeliveryResult(org_id=ORG, job_id=job_id, destination_id="lake", generation=1, rows=1)
    await plant._commander.tell(plant._partition, SettleDeliveries(command_id=uuid7(), results=(late,), writer_id="w"))
    await plant.until("DeliveryAcked", job_id, 60, destination_id="lake")
    assert len(plant.of("DeliveryRequested", job_id, destination_id=NOTICE.destination_id, try_number=1)) == 1
    assert [each for each in plant.history(job_id) if each in ("JobCompleted", "JobFailed")] == ["JobFailed"]
