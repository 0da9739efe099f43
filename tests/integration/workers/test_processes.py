"""Workers and writers as processes, against the real decider: the whole path, and every way to leave it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from schemas.events import JobCompleted, JobReleased
from schemas.values import ReleaseReason
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.workers.plant import Plant, terminate
from tests.unit.workers.fakes import service, workflow

STOP_SECONDS = 10.0


@pytest.fixture
async def plant(settings: Settings, tmp_path: Path) -> AsyncIterator[Plant]:
    """A plant with its decider."""
    plant = Plant(settings, tmp_path)
    try:
        await plant.open(workflow(service("a", timeoutSeconds=60)))
        yield plant
    finally:
        await plant.close()


async def test_a_job_goes_from_submission_to_completed_with_its_row_in_postgres(plant: Plant) -> None:
    await plant.worker("worker-1")
    plant.start("services.writers")
    job_id = await plant.submit("/p/1")
    completed = await plant.until("JobCompleted", job_id)
    assert isinstance(completed, JobCompleted)
    [acked] = plant.of("DeliveryAcked", job_id)
    assert completed.opened_by == (acked.header.event_id,)
    with psycopg.connect(plant.settings.postgres) as connection:
        row = connection.execute(
            "SELECT normalized, schema_id FROM extraction.extraction_results WHERE job_id = %s", (job_id,)
        ).fetchone()
    assert row is not None
    assert (row[0]["name"], row[1]) == ("Lamp", "product")
    assert plant.history(job_id).count("NodeFinished") == 5


@pytest.mark.kafka
async def test_a_worker_that_is_told_to_stop_hands_its_job_back_and_leaves_cleanly(plant: Plant) -> None:
    first = await plant.worker("worker-1")
    job_id = await plant.submit("/slow/1")
    await eventually(lambda: plant.site.calls["/slow/1"] == 1, 30)
    terminate(first)
    assert await asyncio.to_thread(first.wait, STOP_SECONDS) == 0
    released = await plant.until("JobReleased", job_id)
    assert isinstance(released, JobReleased)
    assert released.reason is ReleaseReason.HANDED_BACK
    await eventually(lambda: len(plant.of("WorkerLost", worker_id="worker-1", stopped=True)) > 0)
    plant.site.gate.set()
    await plant.worker("worker-2")
    await plant.until("JobExtracted", job_id, attempt=2)


@pytest.mark.kafka
async def test_a_job_that_ends_within_the_grace_is_not_handed_back(plant: Plant) -> None:
    worker = await plant.worker("worker-1")
    job_id = await plant.submit("/slow/1")
    await eventually(lambda: plant.site.calls["/slow/1"] == 1, 30)
    terminate(worker)
    plant.site.gate.set()
    await plant.until("JobExtracted", job_id, attempt=1)
    assert await asyncio.to_thread(worker.wait, STOP_SECONDS) == 0


@pytest.mark.kafka
async def test_the_job_of_a_worker_that_was_killed_is_finished_by_another(plant: Plant) -> None:
    first = await plant.worker("worker-1")
    job_id = await plant.submit("/slow/1")
    await eventually(lambda: plant.site.calls["/slow/1"] == 1, 30)
    first.kill()
    plant.site.gate.set()
    await plant.worker("worker-2")
    await plant.until("JobExtracted", job_id, attempt=2)
    assert [event for event in plant.history(job_id) if event == "JobExtracted"] == ["JobExtracted"]


@pytest.mark.kafka
async def test_40_a_cancelled_job_stops_at_once_and_what_was_out_is_noted(plant: Plant) -> None:
    await plant.worker("worker-1")
    job_id = await plant.submit("/slow/1")
    await eventually(lambda: plant.site.calls["/slow/1"] == 1, 30)
    await plant.cancel(job_id)
    await eventually(lambda: plant.site.dropped["/slow/1"] == 1, 5)
    other = await plant.submit("/p/2")
    await plant.until("JobExtracted", other)
    await plant.until("ReportRefused", job_id, report="release", reason="job_terminal")
    assert plant.history(job_id)[-2:] == ["JobCancelled", "ReportRefused"]
