"""Scenarios 2, 3, 4, 7, 10, 17 and 19: claims, rebalances and crashes of processes on a real broker."""

import asyncio
import dataclasses
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from projections.verification.snapshot import snapshot_of
from schemas.events import JobClaimed, NodeFinished, ReportRefused
from services.ledger.wire import TASKS
from services.runtime.reader import LogReader
from services.runtime.settings import Settings
from services.runtime.topics import commands, tasks
from tests.eventually import eventually
from tests.integration.workers.plant import ROOT, Plant
from tests.unit.workers.fakes import service, workflow

pytestmark = pytest.mark.kafka
SECONDS = 60.0
SHORT_POLL = "import services.streams.consumer as c; c.MAX_POLL_INTERVAL_MS = 2000"
CLOCK_OFF = "import time; real = time.time; time.time = lambda: real() + 600"


@pytest.fixture
async def plant(settings: Settings, tmp_path: Path) -> AsyncIterator[Plant]:
    """A plant with its decider."""
    plant = Plant(settings, tmp_path)
    try:
        await plant.open(workflow(service("a", timeoutSeconds=120)))
        yield plant
    finally:
        await plant.close()


def claims(plant: Plant, job_id: str) -> list[tuple[int, str]]:
    """Attempt and worker of each claim of a job."""
    found = [each.event for each in plant.of("JobClaimed", job_id)]
    return [(each.attempt, each.worker_id) for each in found if isinstance(each, JobClaimed)]


async def test_02_tasks_behind_a_blocked_one_are_sent_again_to_their_partition_and_run_once(
    settings: Settings, tmp_path: Path
) -> None:
    """A worker with one slot, blocked for several leases and resends; each job has one of three partitions of tasks."""
    plant = Plant(dataclasses.replace(settings, task_spread=3), tmp_path)
    try:
        await plant.open(workflow(service("a", timeoutSeconds=120)))
        await plant.worker("worker-1", JOBLEDGER_WORKER_SLOTS="1")
        blocked = await plant.submit("/slow/0")
        await plant.until("JobClaimed", blocked, SECONDS)
        await plant.promise(slots=4)  # no task goes out behind a fleet that is busy
        waiting = [await plant.submit(f"/p/{number}") for number in range(1, 5)]
        for job_id in waiting:
            await eventually(lambda job_id=job_id: len(plant.of("JobDispatched", job_id)) >= 3, SECONDS)  # type: ignore[misc]
        assert len(plant.of("JobDispatched", blocked)) == 1
        plant.site.gate.set()
        for job_id in (blocked, *waiting):
            await plant.until("JobExtracted", job_id, SECONDS, attempt=1)
            assert claims(plant, job_id) == [(1, "worker-1")]
        assert set(plant.site.calls.values()) == {1}
        sent = await asyncio.to_thread(tasks_of, plant, waiting)
    finally:
        await plant.close()
    assert all(len(places) >= 3 and len(set(places)) == 1 for places in sent.values()), sent


def tasks_of(plant: Plant, jobs: list[str]) -> dict[str, list[int]]:
    """Return the partitions to which the tasks of each job went, once all that were recorded are there."""
    settings = plant.settings
    recorded = sum(len(plant.of("JobDispatched", job_id)) for job_id in jobs)
    places = range(settings.partitions * settings.task_spread)
    reader = LogReader(settings, tasks(settings, "workflow"), dict.fromkeys(places, 0))
    found: dict[str, list[int]] = {job_id: [] for job_id in jobs}
    while sum(map(len, found.values())) < recorded:
        for record in reader.poll(200, 5.0):
            if (job_id := TASKS.decode(record.value).job_id) in found:
                found[job_id].append(record.partition)
    reader.close()
    return found


async def test_03_11_work_longer_than_the_poll_limit_and_many_leases_keeps_its_owner(plant: Plant) -> None:
    """A poll limit of 2 s, a lease of 2 s, every slot taken, another task waiting, and a second worker at hand."""
    await plant.worker("worker-1", before=SHORT_POLL, JOBLEDGER_WORKER_SLOTS="1")
    long = await plant.submit("/slow/1")
    await plant.until("JobClaimed", long, SECONDS)
    waiting = await plant.submit("/p/2")
    await plant.worker("worker-2", before=SHORT_POLL, JOBLEDGER_WORKER_SLOTS="1")
    beats = len(plant.of("WorkerAlive", worker_id="worker-1"))
    enough = beats + 20 * plant.settings.partitions  # 10 s of heartbeats
    await eventually(lambda: len(plant.of("WorkerAlive", worker_id="worker-1")) >= enough, SECONDS)
    plant.site.gate.set()
    for job_id in (long, waiting):
        await plant.until("JobExtracted", job_id, SECONDS, attempt=1)
        assert [attempt for attempt, _ in claims(plant, job_id)] == [1]
        assert not plant.of("JobReleased", job_id)
    assert (plant.site.calls["/slow/1"], plant.site.calls["/p/2"]) == (1, 1)


async def test_04_07_what_was_done_is_not_done_again_when_workers_come_and_go(plant: Plant) -> None:
    first = await plant.worker("worker-1")
    slow = await plant.submit("/slow/4")
    await plant.until("JobClaimed", slow, SECONDS)
    done = [await plant.submit(f"/p/{number}") for number in (5, 6, 7)]
    for job_id in done:
        await plant.until("JobExtracted", job_id, SECONDS)
    await plant.worker("worker-2")
    first.kill()
    plant.site.gate.set()
    await plant.until("JobExtracted", slow, SECONDS, attempt=2)
    last = await plant.submit("/p/8")
    await plant.until("JobExtracted", last, SECONDS)
    for number, job_id in zip((5, 6, 7), done, strict=True):
        assert plant.site.calls[f"/p/{number}"] == 1
        assert claims(plant, job_id) == [(1, "worker-1")]
    assert claims(plant, slow) == [(1, "worker-1"), (2, "worker-2")]


async def test_10_the_late_result_of_a_frozen_worker_is_refused_recorded_and_changes_nothing(plant: Plant) -> None:
    """Frozen beyond its lease, thawed once another worker's result is acknowledged and the job has ended."""
    plant.start("services.writers")
    plant.start("projections")
    frozen = await plant.worker("worker-1")
    job_id = await plant.submit("/slow/1")
    await eventually(lambda: plant.site.calls["/slow/1"] == 1, SECONDS)
    frozen.send_signal(signal.SIGSTOP)
    try:
        await plant.worker("worker-2")
        await eventually(lambda: plant.site.calls["/slow/1"] == 2, SECONDS)
        plant.site.gate.set()
        await plant.until("JobCompleted", job_id, SECONDS, attempt=2)
        await eventually(lambda: shown(plant, job_id)[0] == "completed", SECONDS)
        before = shown(plant, job_id)
    finally:
        frozen.send_signal(signal.SIGCONT)
    refused = await plant.until("ReportRefused", job_id, SECONDS, worker_id="worker-1")
    assert isinstance(refused, ReportRefused)
    assert (refused.claimed_attempt, refused.attempt, refused.reason) == (1, 2, "stale_attempt")
    [last] = plant.of("ReportRefused", job_id)
    await eventually(lambda: folded(plant, last.header.partition) >= last.header.position, SECONDS)
    status, rows, _ = shown(plant, job_id)
    assert (status, rows) == ("completed", 1)
    assert shown(plant, job_id) == before
    assert [plant.history(job_id).count(each) for each in ("JobExtracted", "JobCompleted", "DeliveryRequested")] == [
        1
    ] * 3
    assert claims(plant, job_id) == [(1, "worker-1"), (2, "worker-2")]


def shown(plant: Plant, job_id: str) -> tuple[str, int, tuple[Any, ...]]:
    """What Postgres shows of a job: its status, how many rows of results it has, and the one of them."""
    with psycopg.connect(plant.settings.postgres) as connection:
        found = connection.execute("SELECT status FROM ledger_v1.jobs WHERE job_id = %s", (job_id,)).fetchone()
        query = "SELECT generation, raw_blob_key, delivered_at FROM extraction.extraction_results WHERE job_id = %s"
        rows = connection.execute(query, (job_id,)).fetchall()
    return found[0] if found else "", len(rows), rows[0] if rows else ()


def folded(plant: Plant, partition: int) -> int:
    """How far the read model has folded a partition."""
    with snapshot_of(plant.settings.postgres) as snapshot:
        return snapshot.checkpoints()[partition].position


async def test_a_worker_whose_clock_is_off_by_ten_minutes_works_like_any_other(plant: Plant) -> None:
    await plant.worker("worker-1", before=CLOCK_OFF)
    job_id = await plant.submit("/p/1")
    await plant.until("JobExtracted", job_id, SECONDS, attempt=1)
    [claimed] = plant.of("JobClaimed", job_id)
    for each in plant.of("NodeFinished", job_id):
        assert isinstance(each.event, NodeFinished)
        assert claimed.header.occurred_at <= each.event.started_at <= each.event.ended_at <= each.header.occurred_at
    assert not plant.of("JobReleased", job_id)


async def test_19_of_two_deciders_the_older_leaves_fast_and_nothing_of_it_is_half_written(plant: Plant) -> None:
    older = plant.processes[0]
    newer = plant.start("services.decider")
    for number in range(5):
        await plant.submit(f"/p/{number}")
    assert await asyncio.to_thread(older.wait, SECONDS) != 0
    assert newer.poll() is None
    await plant.worker("worker-1")
    job_id = await plant.submit("/p/9")
    await plant.until("JobExtracted", job_id, SECONDS)
    positions = [each.header.position for each in plant.events if each.event.job_id or each.event.org_id]
    assert positions == sorted(set(positions))  # and the log reader stops at every gap


PRODUCE = """
import asyncio, os, random, sys
from services.runtime.producer import Producer
from services.runtime.settings import settings_from
from services.runtime.topics import commands, partition_of_org
async def main():
    settings = settings_from(os.environ)
    producer = Producer(settings, sys.argv[1])
    producer.start()
    orgs = [f"org-{number}" for number in range(50)]
    random.Random(sys.argv[1]).shuffle(orgs)
    for org in orgs:
        await producer.send(commands(settings), partition_of_org(org, settings.partitions), org, sys.argv[1].encode())
    producer.close()
asyncio.run(main())
"""


async def test_17_three_processes_put_fifty_orgs_each_on_one_partition(ledger: Settings, tmp_path: Path) -> None:
    environ = Plant(ledger, tmp_path)._environ()
    names = ("one", "two", "three")
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", PRODUCE, name, cwd=ROOT, env=environ)
        for name in names
    ]
    assert [await process.wait() for process in processes] == [0, 0, 0]
    reader = LogReader(ledger, commands(ledger), dict.fromkeys(range(ledger.partitions), 0))
    places: dict[str, set[int]] = {}
    count = 0
    while count < 150:
        for record in await asyncio.to_thread(reader.poll, 200, 5.0):
            places.setdefault(record.key, set()).add(record.partition)
            count += 1
    reader.close()
    assert len(places) == 50
    assert all(len(found) == 1 for found in places.values())
