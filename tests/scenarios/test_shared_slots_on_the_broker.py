"""Scenarios 23 and 25 by real processes: slots that one org has filled, and one that a killed worker held."""

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from schemas.events import (
    AnyEvent,
    JobCancelled,
    JobClaimed,
    JobDispatched,
    JobExtracted,
    JobFailed,
    JobReleased,
    RetryScheduled,
    WorkerLost,
)
from schemas.recorded import Recorded
from services.decider.past import state_at
from services.ledger.status import Status
from services.runtime.policy import policy_of
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.workers.plant import ORG
from tests.scenarios.tended import PATIENCE_SECONDS, Tended, tended

pytestmark = pytest.mark.kafka
CAP, SLOTS = 5, 5  # of A in flight; of the worker
QUEUED, AT_ONCE = 1_000, 500  # jobs of A; of one command
GIVES_BACK = (JobExtracted, JobFailed, JobCancelled, JobReleased, RetryScheduled)  # its slot
TURNS = 2  # that another org may have first: one in this round, one in the next


def in_flight(events: Iterable[Recorded], org_id: str) -> Iterator[int]:
    """Yield how many jobs of an org hold a slot, after each of its events, as the log says it."""
    held: set[str] = set()
    for recorded in events:
        event: AnyEvent = recorded.event
        if event.org_id == org_id and isinstance(event, JobDispatched):
            held.add(event.job_id)
        elif event.org_id == org_id and isinstance(event, GIVES_BACK):
            held.discard(event.job_id)
        yield len(held)


def of_org(events: Iterable[Recorded], org_id: str, kind: type[AnyEvent]) -> list[int]:
    """Return the positions of the events of a type of an org."""
    return [each.header.position for each in events if each.event.org_id == org_id and isinstance(each.event, kind)]


def mine(plant: Tended) -> list[Recorded]:
    """Return what was seen of the partition of the orgs."""
    partition = next(each.header.partition for each in plant.events if each.event.org_id == ORG)
    return [each for each in plant.events if each.header.partition == partition]


async def test_23_one_job_starts_at_once_behind_a_thousand_of_another_org_which_keeps_its_cap(
    settings: Settings, tmp_path: Path
) -> None:
    async with tended(settings, tmp_path) as plant:
        worker = await plant.begin()
        plant.forget(worker)
        await plant.worker("worker-5", JOBLEDGER_WORKER_SLOTS=str(SLOTS))
        other = await plant.neighbour()
        held = await plant.submit_all([f"/slow/{number}" for number in range(CAP)])
        for job_id in held:
            await plant.until("JobClaimed", job_id)
        for _ in range(QUEUED // AT_ONCE):
            await plant.submit_all([f"/a/{number}" for number in range(AT_ONCE)])
        [job_id] = await plant.submit_all(["/b"], org_id=other)
        plant.site.gate.set()
        await plant.until("JobClaimed", job_id)
        await eventually(lambda: len(of_org(mine(plant), ORG, JobClaimed)) >= 10 * CAP, PATIENCE_SECONDS)
        events = mine(plant)
        [dispatched], [claimed] = of_org(events, other, JobDispatched), of_org(events, other, JobClaimed)
        submitted = plant.of("JobSubmitted", job_id)[0].header.position
        ahead = [at for at in of_org(events, ORG, JobDispatched) if submitted < at < dispatched]
        assert len(ahead) <= TURNS, "turns of A before that of B"
        ahead = [at for at in of_org(events, ORG, JobClaimed) if submitted < at < claimed]
        assert len(ahead) <= TURNS + SLOTS, "what was claimed beside it may be written first"
        assert max(in_flight(events, ORG)) == CAP


async def test_25_the_slot_of_a_killed_worker_is_free_after_its_lease_and_the_count_is_that_of_live_runs(
    settings: Settings, tmp_path: Path
) -> None:
    async with tended(settings, tmp_path) as plant:
        killed = await plant.begin()
        await plant.limit(1)
        first = await plant.submit("/slow/first")
        await plant.until("JobClaimed", first)
        plant.forget(killed)
        await plant.worker("worker-2")
        second = await plant.submit("/second")
        await plant.until("JobReleased", first)
        await plant.until("JobClaimed", first, attempt=2)
        plant.site.gate.set()
        await plant.ended([first, second])
        events = mine(plant)
        [lost] = [at.header.position for at in events if isinstance(at.event, WorkerLost)]
        [started] = [each.header.position for each in plant.of("JobClaimed", second)]
        assert lost < started
        assert max(in_flight(events, ORG)) == 1, "nobody started while it was not known that the worker is gone"
        assert plant.site.calls["/second"] == 1
        counted = dict(zip((each.header.position for each in events), in_flight(events, ORG), strict=True))
        for position in (*_around(lost), *_around(started), events[-1].header.position):
            then = await asyncio.to_thread(
                state_at, plant.settings, events[0].header.partition, decoder(plant.settings),
                policy_of(plant.settings), position,
            )  # fmt: skip
            live = [job for job in then.jobs.values() if job.status == Status.RUNNING or job.task_out]
            assert then.orgs[ORG].in_flight == len(live) == counted[position]
        await plant.verified([first, second])


def _around(position: int) -> range:
    return range(position - 1, position + 3)
