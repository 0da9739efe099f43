"""Scenarios 31 to 37: retries that are asked for, timers, poison records, sizes. Without a broker; see also
`test_poison_on_the_broker.py`."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import msgspec
import pytest

from schemas.events import JobDispatched, RetryScheduled
from services.decider.batch import BatchDecider
from services.ledger.apply import apply
from services.ledger.commands import ReportProgress
from services.ledger.policy import MILLISECOND, SECOND
from services.ledger.record import digest_of
from services.ledger.replies import Granted
from services.ledger.reports import RetryLater
from services.ledger.state import Ledger
from services.ledger.status import Status
from services.ledger.wire import COMMANDS, TASKS
from services.ledger.workflow_reading import parsed
from services.workers.attempt import attempt
from services.workers.providers.answers import error_of_status
from services.workers.steps import Tools
from services.workers.walk import Errored, Point, Retry, after
from services.workers.workflows import Workflows
from tests.unit.ledger.world import PlainEncoder, World, failed_node
from tests.unit.workers.fakes import (
    JOB,
    WORKFLOW_REF,
    MemoryBlobs,
    OneProvider,
    ScriptedProvider,
    broken,
    page,
    service,
    task,
    workflow,
)

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
EVENT_BYTES = 64 * 1024


# ---- 31 ----


def delays(retry_after: str, jobs: int, **settings: object) -> list[float]:
    """Seconds that so many jobs wait that are all answered 429 with this header."""
    document = parsed(workflow(service("a", retries=5, retryBackoff="deferred", **settings)))
    error = error_of_status(429, {"Retry-After": retry_after}, NOW)
    assert error is not None
    outcome = Errored(error.error_type, error.message, error.retryable, error.retry_after_seconds)
    steps = [after(document, Point("a"), outcome, f"job-{number}") for number in range(jobs)]
    assert all(isinstance(step, Retry) and step.deferred for step in steps)
    return [step.delay_ms / 1000 for step in steps if isinstance(step, Retry)]


@pytest.mark.parametrize("jobs", [20, 50])
@pytest.mark.parametrize(
    ("header", "least"),
    [
        ("7", 7.0),
        (format_datetime(NOW + timedelta(seconds=7), usegmt=True), 7.0),
        (format_datetime(NOW - timedelta(days=1), usegmt=True), 0.0),
        ("soon", 0.0),
        ("-7", 0.0),
        ("7.5.3", 0.0),
        ("", 0.0),
        ("1", 1.0),
    ],
)
def test_31_a_429_is_obeyed_in_every_form_and_the_jobs_do_not_come_back_together(
    header: str, least: float, jobs: int
) -> None:
    waited = delays(header, jobs)
    assert min(waited) >= least
    assert max(waited) < least * 1.2 + 3.1
    assert max(waited) - min(waited) > 1.0
    assert len({round(each, 1) for each in waited}) > 5


def test_31_fifty_jobs_told_to_wait_seven_seconds_are_dispatched_after_it_and_apart() -> None:
    jobs = [f"job-{number}" for number in range(50)]
    world = World().org(cap=50)
    world.announce(slots=50)
    world.submit(*jobs)
    for job_id, seconds in zip(jobs, delays("7", 50), strict=True):
        world.claim(job_id)
        later = RetryLater(node_id="a", try_number=2, delay_ms=round(seconds * 1000))
        world.report(later, failed_node(0, status_code=429), job_id=job_id)
    began = world.now
    while any(world.status(job_id) is Status.WAITING_RETRY and not world.job(job_id).task_out for job_id in jobs):
        world.after(0.1)
        assert world.now - began < 30 * SECOND
    due = {r.event.job_id: r.event.due_at for r in world.seen if isinstance(r.event, RetryScheduled)}
    at = {r.event.job_id: r.header.occurred_at for r in world.seen if isinstance(r.event, JobDispatched)}
    assert all(due[job_id] <= at[job_id] <= due[job_id] + 100 * MILLISECOND for job_id in jobs)
    assert min(at.values()) - began >= 7 * SECOND
    assert max(at.values()) - min(at.values()) > SECOND


# ---- 32 ----


def test_32_a_decider_killed_between_due_and_dispatch_fifty_times_loses_no_retry_and_doubles_none() -> None:
    jobs = [f"j{number}" for number in range(50)]
    world = World().org(cap=50)
    world.announce(slots=50)
    world.submit(*jobs)
    for number, job_id in enumerate(jobs):
        world.claim(job_id)
        later = RetryLater(node_id="a", try_number=2, delay_ms=1000 + 100 * number)
        world.report(later, failed_node(0), job_id=job_id)
    for _ in range(50):
        world.now += 150 * MILLISECOND
        world.decider.timers(world.now, 1000)  # the timer is taken out, its dispatch decided ...
        crash(world)  # ... and never written
        world.after(0)
    assert not [job_id for job_id in jobs if not world.job(job_id).task_out]
    for job_id in jobs:
        world.claim(job_id)
        assert world.job(job_id).attempt == 2
        types = world.types(job_id)
        assert types.count("JobClaimed") == 2
        assert types.count("JobDispatched") == 2


def test_32_an_outage_delays_only_what_fell_into_it() -> None:
    world = World().org(cap=10)
    world.announce(slots=10)
    seconds = {"before": 5, "in it": 20, "after it": 50}
    world.submit(*seconds)
    for job_id, wait in seconds.items():
        world.claim(job_id)
        world.report(RetryLater(node_id="a", try_number=2, delay_ms=wait * 1000), failed_node(0), job_id=job_id)
    began = world.now
    for _ in range(10):
        world.after(1)
    world.after(30)  # nothing is looked at for half a minute
    for _ in range(20):
        world.after(1)
    at: dict[str, int] = {}
    for recorded in world.seen:
        if isinstance(recorded.event, JobDispatched) and recorded.event.attempt == 1:
            at.setdefault(recorded.event.job_id, (recorded.header.occurred_at - began) // SECOND)
    assert at == {"before": 5, "in it": 40, "after it": 50}


def crash(world: World) -> None:
    """Lose all memory, and all that was decided and not committed; read the log."""
    ledger = Ledger(0, world.policy)
    for recorded in world.seen:
        apply(ledger, recorded, digest_of(PlainEncoder().encode(recorded)))
    world.decider = BatchDecider(ledger, PlainEncoder())


# ---- 37 ----


async def test_37_a_result_of_5_mb_goes_by_reference_through_a_retry_and_fits_everywhere() -> None:
    body = b"<html><title>Lamp</title><body><h1>Lamp</h1><p class=price>12.50 EUR</p><p>%s</p></body></html>"
    body %= b"the same words again, " * (5 * 1024 * 1024 // 22)
    blobs = MemoryBlobs({WORKFLOW_REF: workflow(service("a", retries=3, retryBackoff="deferred"))})
    tools = Tools(OneProvider(ScriptedProvider(broken(), page(body))), blobs)
    world = World().org()
    world.submit(JOB)

    sizes = []
    for number in (1, 2):
        world.claim(JOB)
        grant = world.reply
        assert isinstance(grant, Granted)
        async for report in attempt(tools, Workflows(blobs), task(), grant):
            command = ReportProgress(
                command_id="p",
                org_id="acme",
                job_id=JOB,
                attempt=number,
                worker_id="w",
                boot_id="boot-1",
                nodes=report.nodes,
                outcome=report.outcome,
            )
            sizes.append(len(COMMANDS.encode(command)))
            world.when(command)
        if number == 1:
            assert world.status(JOB) is Status.WAITING_RETRY
            world.after(3600)
    extracted = world.job(JOB).extracted
    assert extracted is not None
    assert blobs.blobs[extracted.result_ref] == body
    assert extracted.result_bytes == len(body)
    sizes += [len(stored.stored) for stored in world.sent.events]
    sizes += [len(TASKS.encode(each)) for each in world.sent.tasks]
    sizes += [len(msgspec.msgpack.encode(each)) for each in world.sent.deliveries]
    assert max(sizes) < EVENT_BYTES
