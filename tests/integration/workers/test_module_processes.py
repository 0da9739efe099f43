"""Module jobs on the real broker: processes that are killed, jobs that reach their limit, and jobs that go on."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schemas.events import ItemsRecorded, JobContinued, JobFailed
from schemas.private import private_bytes, private_json
from schemas.values import Vocabulary
from services.ledger.commands import NewJob, ResumeJob, SubmitJobs
from services.ledger.replies import Done, Refused
from services.runtime.blob import BlobStore
from services.runtime.ids import uuid7
from services.runtime.item_chunks import rows_part
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.workers.plant import ORG, Plant
from tests.unit.workers.fakes import FIELDS, workflow

pytestmark = pytest.mark.kafka
QUERIES = [f"q{number}" for number in range(20)]


@pytest.fixture
async def plant(settings: Settings, tmp_path: Path) -> AsyncIterator[Plant]:
    """A plant with its decider."""
    plant = Plant(settings, tmp_path)
    try:
        await plant.open(workflow())
        yield plant
    finally:
        await plant.close()


async def worker(plant: Plant, name: str) -> "subprocess.Popen[bytes]":
    """Start a worker of modules and wait until the ledger knows it."""
    process = plant.start("services.workers.modules", JOBLEDGER_WORKER_ID=name)
    alive = plant.settings.partitions
    await eventually(lambda: len({e.header.partition for e in plant.of("WorkerAlive", worker_id=name)}) == alive, 30)
    return process


async def submit(plant: Plant, zones: list[str], limit: int = 3600, **more: Any) -> str:
    """Submit a `scrap` job: all queries of a zone, then of the next."""
    asked = {
        "queries": QUERIES,
        "zones": zones,
        "url_template": plant.site.url + "/{zone}/{query}",
        "extract": {"fields": list(FIELDS)},
    }
    job_id = uuid7()
    await plant.ask(
        SubmitJobs(
            command_id=uuid7(),
            org_id=ORG,
            requester=plant._commander.boot_id,
            jobs=(NewJob(job_id=job_id, private=private_bytes({"input": asked | more})),),
            vocabulary=Vocabulary.MODULE,
            workflow_id="scrap",
            max_run_seconds=limit,
        )
    )
    return job_id


async def resumed(plant: Plant, job_id: str, new_id: str) -> Done | Refused:
    """Ask for a job that goes on."""
    command = ResumeJob(
        command_id=uuid7(),
        org_id=ORG,
        job_id=job_id,
        new=NewJob(job_id=new_id),
        requester=plant._commander.boot_id,
    )
    reply = await plant._commander.ask(plant._partition, command, 30.0)
    assert isinstance(reply.body, Done | Refused)
    return reply.body


async def results(plant: Plant, job_id: str) -> list[tuple[str, str]]:
    """Return zone and query of each result of a job, in their order: what it adopted, then what it did itself."""
    recorded = [each.event for each in plant.events if isinstance(each.event, ItemsRecorded)]
    went_on = [each.event for each in plant.of("JobContinued", job_id)]
    links = {each.job_id: each.chunks for event in went_on if isinstance(event, JobContinued) for each in event.adopts}
    wanted = [
        chunk
        for link, count in [*links.items(), (job_id, 2**62)]
        for chunk in recorded
        if chunk.job_id == link and chunk.chunk < count
    ]
    store = BlobStore(plant.settings.blobs)
    found = []
    for chunk in wanted:
        rows = [msgspec.json.decode(line) for line in rows_part(await store.get(chunk.items_ref), chunk.rows_bytes)]
        assert all(row["name"] == "Lamp" for row in rows)
        found += [(row["zone"], row["query"]) for row in rows]
    return found


EVERY = [(zone, query) for zone in ("p", "slow") for query in QUERIES]


async def test_a_worker_that_is_killed_loses_nothing_and_repeats_nothing(plant: Plant) -> None:
    first = await worker(plant, "m1")
    job_id = await submit(plant, ["p", "slow"])
    await plant.until("ItemsRecorded", job_id, next_item=20)
    first.kill()
    plant.site.gate.set()
    await worker(plant, "m2")
    await plant.until("JobCompleted", job_id, attempt=2)
    assert await results(plant, job_id) == EVERY
    assert all(plant.site.calls[f"/p/{query}"] == 1 for query in QUERIES)


async def test_30_43_at_its_limit_a_job_keeps_what_it_has_and_one_job_goes_on(plant: Plant) -> None:
    await worker(plant, "m1")
    job_id = await submit(plant, ["p", "slow"], limit=4)
    failed = await plant.until("JobFailed", job_id)
    assert isinstance(failed, JobFailed)
    assert b"run-time limit of 4 s; another job goes on" in (private_json(failed.private) or b"")
    assert await results(plant, job_id) == EVERY[:20]
    await eventually(lambda: [e for e in plant.events if isinstance(e.event, JobContinued)])
    [follower] = [each.event.job_id for each in plant.events if isinstance(each.event, JobContinued)]
    answer = await resumed(plant, job_id, uuid7())
    assert isinstance(answer, Refused)
    assert answer.code == "resume_pending"
    await plant.until("JobClaimed", follower)
    plant.site.gate.set()
    await plant.until("JobCompleted", follower)
    assert await results(plant, follower) == EVERY
    both = await asyncio.gather(resumed(plant, job_id, uuid7()), resumed(plant, job_id, uuid7()))
    assert sorted(type(each).__name__ for each in both) == ["Done", "Refused"]


async def test_items_that_fail_are_told_apart_and_the_job_is_done(plant: Plant) -> None:
    await worker(plant, "m1")
    job_id = await submit(plant, ["p", "gone"])
    await plant.until("JobCompleted", job_id)
    chunks = [each.event for each in plant.of("ItemsRecorded", job_id)]
    assert sum(chunk.errors for chunk in chunks if isinstance(chunk, ItemsRecorded)) == 20
    assert await results(plant, job_id) == EVERY[:20]
