"""Scenarios 1, 21, 29 and 32 at large: half a minute without a broker, and everything down for many leases.

Nobody is given up for a silence that was not his, what was due meanwhile happens once, and what is due later on time.
"""

import asyncio
import os
import time
from pathlib import Path

import pytest

from schemas.events import JobClaimed, RetryScheduled, WorkerAlive, WorkerLost
from services.ledger.policy import SECOND
from services.localstack.stack import Stack
from services.runtime.settings import settings_from
from tests.scenarios.own_stack import away, made_ready
from tests.scenarios.tended import PATIENCE_SECONDS, Tended, tended

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(
        not os.environ.get("JOBLEDGER_TEST_OUTAGES"),
        reason="takes minutes, and a machine with little else to do: `make outages`, or set JOBLEDGER_TEST_OUTAGES",
    ),
]
AWAY_SECONDS = 30.0
AWAY_LEASES = 3
DOWN_LEASES = 3
LATE_SECONDS = 30.0  # that a machine under load may take to look at a wait that is over; 0.1 s otherwise


def claims(plant: Tended, job_id: str) -> list[int]:
    """Return the attempts of a job that were claimed."""
    return [each.event.attempt for each in plant.of("JobClaimed", job_id) if isinstance(each.event, JobClaimed)]


async def due(plant: Tended, job_id: str) -> int:
    """Return when the retry of a job is due, in microseconds."""
    scheduled = await plant.until("RetryScheduled", job_id, PATIENCE_SECONDS)
    assert isinstance(scheduled, RetryScheduled)
    return scheduled.due_at


def came_back(plant: Tended, job_id: str) -> int:
    """Return when a job was first dispatched after its retry was scheduled; it is sent again until it is claimed."""
    return plant.of("JobDispatched", job_id, attempt=1)[0].header.occurred_at


async def test_a_broker_that_stands_still_for_30_s_costs_no_worker_and_no_wait(own: Stack, tmp_path: Path) -> None:
    settings = settings_from(made_ready(own))
    async with tended(settings, tmp_path, AWAY_SECONDS / AWAY_LEASES) as plant:
        worker = await plant.begin()
        slow = await plant.submit("/slow/1")
        await plant.until("JobClaimed", slow, PATIENCE_SECONDS)
        meanwhile = [await plant.submit(f"/later/15/{number}") for number in range(2)]
        afterwards = [await plant.submit(f"/later/50/{number}") for number in range(2)]
        dues = {job_id: await due(plant, job_id) for job_id in (*meanwhile, *afterwards)}
        with away(own):
            stopped_at = time.time()
            await asyncio.sleep(AWAY_SECONDS)
            resumed_at = time.time()
        for job_id in meanwhile:
            assert stopped_at < dues[job_id] / SECOND < resumed_at, "the machine was too slow for this test"
        for job_id in afterwards:
            assert dues[job_id] / SECOND > resumed_at, "the machine was too slow for this test"
        for job_id in dues:
            await plant.until("JobExtracted", job_id, PATIENCE_SECONDS, attempt=2)
            assert claims(plant, job_id) == [1, 2]
            from_then = max(dues[job_id], int(resumed_at * SECOND))
            assert dues[job_id] <= came_back(plant, job_id) <= from_then + LATE_SECONDS * SECOND
        lost = [each.header for each in plant.events if each.header.event_type in ("WorkerLost", "JobReleased")]
        assert [(each.event_type, each.occurred_at / SECOND - resumed_at) for each in lost] == []
        assert worker.poll() is None
        plant.site.gate.set()
        await plant.ended([slow, *dues])
        assert claims(plant, slow) == [1]
        assert set(plant.site.calls.values()) == {1, 2}  # two of those that were told to come back
        await plant.verified([slow, *dues])


async def test_when_everything_was_down_for_many_leases_nobody_is_expired_and_every_job_ends(
    own: Stack, tmp_path: Path
) -> None:
    settings = settings_from(made_ready(own))
    async with tended(settings, tmp_path, lease_seconds=6.0) as plant:
        await plant.begin()
        done = await plant.submit("/p/1")
        running = [await plant.submit(f"/slow/{number}") for number in range(3)]
        waits = await plant.submit("/later/10/1")
        await due(plant, waits)
        await plant.ended([done])
        for job_id in running:
            await plant.until("JobClaimed", job_id, PATIENCE_SECONDS)
        queued = [await plant.submit(f"/p/{number}") for number in range(2, 8)]  # the org's cap is 5
        before = {each.event.boot_id for each in plant.events if isinstance(each.event, WorkerAlive)}
        await plant.kill_all()
        await asyncio.to_thread(own.stop)
        await asyncio.sleep(DOWN_LEASES * plant.settings.lease_seconds)
        await asyncio.to_thread(own.start)
        plant.site.gate.set()
        plant.start_all()
        jobs = [done, *running, waits, *queued]
        await plant.ended(jobs)
        assert claims(plant, done) == [1]
        for job_id in running:  # their worker is gone for good; that is known once
            assert claims(plant, job_id) == [1, 2]
        for job_id in (*running, *queued):  # of the queued ones, some may have been with the worker too
            assert claims(plant, job_id)[1:] == [2] * len(plant.of("JobReleased", job_id))
        assert claims(plant, waits) == [1, 2]
        assert len(plant.of("RetryScheduled", waits)) == 1
        lost = {each.event.boot_id for each in plant.events if isinstance(each.event, WorkerLost)}
        assert lost <= before
        await plant.verified(jobs)
