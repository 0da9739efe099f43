"""The work of the peers, done by the ledger: commands straight to their topic, steps that do nothing, no destination.

A job is done when its `JobCompleted` is read from the topic of events, committed.
"""

import asyncio
import itertools
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from bench.peers.running import Plan
from bench.peers.steps_worker import steps_ref
from bench.peers.window import Mark, closed_loop
from bench.peers.work import Work
from bench.stack import BenchStack, part_stack
from schemas.placement import partition_of_org
from services.ledger.commands import NewJob, RegisterOrg, SubmitJobs
from services.ledger.replies import Done
from services.localstack.services import SERVICES, Service
from services.runtime.commander import Commander
from services.runtime.ends import committed_end
from services.runtime.ids import uuid7
from services.runtime.reader import LogReader
from services.runtime.settings import Settings
from services.runtime.topics import events

ORGS = 24
ORG_CAP = 10_000  # jobs of one org in flight: the ledger is measured, not its caps
TYPE_HEADER, DONE = "ce_type", b"jobledger.JobCompleted"
POLL_RECORDS, POLL_SECONDS = 5_000, 0.1
PAUSE_SECONDS = 0.005
QUIET_SECONDS = 0.5  # without a completed job: nothing is in flight any more
PRIVATE = b'\0{"url":"https://shop.example/"}'


@contextmanager
def stack(workers: int, slots: int, partitions: int | None = None) -> Iterator[BenchStack]:
    """Start broker, Postgres, registry, decider and so many workers, lend them, and stop them.

    It has as many partitions as the stack is shipped with, unless it is told.
    """
    decider = [each for each in SERVICES if each.name == "decider"]
    fleet = [
        Service(f"workers-{number}", ("-m", "bench.peers.steps_worker"), needs=("broker", "decider"))
        for number in range(workers)
    ]
    with part_stack(slots, [*decider, *fleet], False, lambda _step: None, partitions) as started:
        yield started


@asynccontextmanager
async def asking(settings: Settings) -> AsyncIterator[tuple[Commander, list[str]]]:
    """Lend a commander and the orgs that were registered with it."""
    commander = Commander(settings, "bench")
    await commander.start()
    try:
        orgs = [f"bench-{number}" for number in range(ORGS)]
        for org_id in orgs:
            command = RegisterOrg(
                command_id=uuid7(), org_id=org_id, name=org_id, max_in_flight=ORG_CAP, requester=commander.boot_id
            )
            reply = await commander.ask(partition_of_org(org_id, settings.partitions), command)
            assert isinstance(reply.body, Done), reply
        yield commander, orgs
    finally:
        await commander.close()


async def same_work(settings: Settings, mark: Mark, work: Work, plan: Plan) -> None:
    """Run the closed loop over a started stack."""
    async with asking(settings) as (commander, orgs):
        turns = itertools.cycle(orgs)
        with counting(settings) as counted:

            async def submit() -> None:
                org_id = next(turns)
                command = SubmitJobs(
                    command_id=uuid7(),
                    org_id=org_id,
                    jobs=(NewJob(job_id=uuid7(), domain="shop.example", private=PRIVATE),),
                    workflow_id="steps",
                    workflow_ref=steps_ref(work.steps, work.told),
                )
                await commander.tell(partition_of_org(org_id, settings.partitions), command)

            async def done() -> int:
                return counted[0]

            await closed_loop(
                submit,
                done,
                mark,
                in_flight=plan.in_flight,
                warm_up=plan.warm_up,
                seconds=plan.seconds,
                pause=PAUSE_SECONDS,
            )
            await drained(counted)


async def drained(counted: list[int]) -> None:
    """Return once nothing new ends any more, so that the next measure begins with an idle ledger."""
    before = -1
    while counted[0] != before:
        before = counted[0]
        await asyncio.sleep(QUIET_SECONDS)


@contextmanager
def counting(settings: Settings) -> Iterator[list[int]]:
    """Count completed jobs from here on, in a thread."""
    topic = events(settings)
    reader = LogReader(settings, topic, committed_end(settings, topic, range(settings.partitions)), following=True)
    counted, stopping = [0], threading.Event()

    def count() -> None:
        while not stopping.is_set():
            records = reader.poll(POLL_RECORDS, POLL_SECONDS)
            counted[0] += sum((TYPE_HEADER, DONE) in record.headers for record in records)

    thread = threading.Thread(target=count, name="counting", daemon=True)
    thread.start()
    try:
        yield counted
    finally:
        stopping.set()
        thread.join()
        reader.close()
