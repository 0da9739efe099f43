"""Scenario 45 on the real thing: with a retention of a second, a sweep leaves the job and nothing of its results."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from projections.verify import verify
from schemas.events import JobExpired
from schemas.values import Destination
from services.runtime.blob import BlobStore
from services.runtime.clickhouse import connect
from services.runtime.settings import Settings
from services.runtime.topics import partition_of_org
from tests.eventually import eventually
from tests.integration.workers.plant import ORG, Plant, terminate
from tests.unit.workers.fakes import service, workflow

TABLE = Destination(destination_id="internal", kind="postgres")
LAKE = Destination(destination_id="lake", kind="clickhouse")
JOBS = 12
SECONDS = 60.0


@pytest.fixture
async def plant(settings: Settings, tmp_path: Path) -> AsyncIterator[Plant]:
    """A plant with its decider, which lets ended jobs leave its memory at once and keeps results for a second."""
    short = dataclasses.replace(settings, retention_seconds=1, retention_poll_seconds=0.5)
    plant = Plant(dataclasses.replace(short, ended_kept=0, ended_kept_seconds=0.0), tmp_path)
    try:
        await plant.open(workflow(service("a", timeoutSeconds=60)))
        with psycopg.connect(settings.postgres) as connection:
            connection.execute(
                "INSERT INTO config.orgs (org_id, name, partition, plan, max_in_flight) VALUES (%s, %s, %s, 'bi', 5)",
                (ORG, ORG, partition_of_org(ORG, settings.partitions)),
            )
        yield plant
    finally:
        await plant.close()


def held(plant: Plant, jobs: list[str]) -> tuple[int, int, int]:
    """How much is left of jobs: rows in Postgres, rows in ClickHouse, bodies."""
    with psycopg.connect(plant.settings.postgres) as connection:
        query = "SELECT count(*) FROM extraction.extraction_results WHERE job_id = ANY (%s)"
        [[rows]] = connection.execute(query, (jobs,)).fetchall()
    with closing(connect(plant.settings.clickhouse)) as client:
        query = "SELECT count() FROM extraction_results WHERE job_id IN {jobs:Array(String)}"
        [[others]] = client.query(query, parameters={"jobs": jobs}).result_rows
    bodies = sum(len(BlobStore(plant.settings.blobs).keys(f"{ORG}/{job_id}")) for job_id in jobs)
    return rows, others, bodies


def expired(plant: Plant) -> set[str]:
    """The jobs that the read model says have expired, and still has."""
    with psycopg.connect(plant.settings.postgres) as connection:
        query = "SELECT job_id FROM ledger_v1.jobs WHERE expired_at IS NOT NULL AND status = 'completed' AND url <> ''"
        return {job_id for (job_id,) in connection.execute(query)}


def purged(plant: Plant, job_id: str) -> bool:
    """Whether both stores have said that nothing is left."""
    return all(plant.of("DeliveryAcked", job_id, destination_id=each) for each in ("erasure", "erasure-clickhouse"))


@pytest.mark.kafka
async def test_45_results_past_retention_are_gone_from_every_store_and_the_jobs_stay(plant: Plant) -> None:
    await plant.worker("worker-1")
    plant.start("services.writers")
    plant.start("services.writers", JOBLEDGER_WRITER_KIND="clickhouse")
    projection = plant.start("projections")
    others = plant.start("projections.clickhouse")
    jobs = [await plant.submit(f"/p/{number}", TABLE, LAKE) for number in range(JOBS)]
    for job_id in jobs:
        await plant.until("JobCompleted", job_id, SECONDS)
    rows, lake, bodies = held(plant, jobs)
    assert (rows, lake) == (JOBS, JOBS)
    assert bodies >= JOBS
    await eventually(lambda: plant.of("JobsArchived"), SECONDS)  # most of them are in no memory any more

    sweeps = [plant.start("services.scheduler") for _ in range(2)]  # both at once, and one of them dies in between
    await eventually(lambda: [each for each in plant.events if isinstance(each.event, JobExpired)], SECONDS)
    sweeps[0].kill()
    await eventually(lambda: all(purged(plant, job_id) for job_id in jobs), SECONDS)
    assert held(plant, jobs) == (0, 0, 0)
    await eventually(lambda: expired(plant) == set(jobs), SECONDS)
    assert [len(plant.of("JobExpired", job_id)) for job_id in jobs] == [1] * JOBS
    assert any(plant.of("JobRecalled", job_id) for job_id in jobs)

    for process in (projection, others):
        terminate(process)
        await asyncio.to_thread(process.wait, SECONDS)
    report = await asyncio.to_thread(verify, plant.settings)
    assert report.ok, report.faults
