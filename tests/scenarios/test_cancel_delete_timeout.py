"""Scenarios 39 to 45 by the rules of the ledger: cancel, delete, timeout."""

import random

import msgspec

from schemas.events import DeliveryRequested, JobCancelled, JobDeleted, JobFailed, ReportRefused
from schemas.values import Destination
from services.ledger.job import Job
from services.ledger.messages import (
    DeliveryResult,
    Done,
    Drop,
    Extracted,
    Failed,
    Outcome,
    Refused,
    RetryLater,
)
from services.ledger.policy import SECOND
from services.ledger.status import Status
from tests.unit.ledger.world import EXTRACTED, POSTGRES, World, ack, failed_node, names, node

LAKE = Destination(destination_id="lake", kind="clickhouse")
HOOK = Destination(destination_id="hook", kind="webhook")
TERMINAL = {"JobCompleted", "JobFailed", "JobCancelled"}


def running(cap: int = 5, **submit: object) -> World:
    """A job that a worker runs."""
    world = World().org(cap=cap)
    world.submit(**submit)  # type: ignore[arg-type]
    world.claim()
    return world


def ends(world: World) -> list[str]:
    """The terminal events of the job."""
    return [name for name in world.types() if name in TERMINAL]


def told(world: World) -> object:
    """The reply to the newest command."""
    return world.reply


def erasure(**fields: object) -> DeliveryResult:
    """The answer of the writer that took away what the store of ours held."""
    return msgspec.structs.replace(ack(destination="erasure"), rows=0, **fields)


# ---- 39: cancel against complete ----


def test_39_cancel_and_the_end_of_the_work_within_a_millisecond() -> None:
    """In 500 runs: one terminal event, the loser recorded as refused, and the API's answer matches."""
    for seed in range(500):
        race(seed)


def race(seed: int) -> None:
    """Let a cancel and the last report come within a millisecond, in either order, each of them twice."""
    chosen = random.Random(seed)
    world = running(destinations=chosen.choice(((), (POSTGRES,))))
    outcome: Outcome = chosen.choice((EXTRACTED, Failed(error_type="providers_exhausted")))
    steps = ["cancel", "report"]
    chosen.shuffle(steps)
    answers = {}
    for step in steps:
        world.now += chosen.randrange(1000)
        world.cancel() if step == "cancel" else world.report(outcome, node(0))
        answers[step] = world.reply
    finished = world.status()
    world.settle(ack())
    world.report(outcome, node(0))
    world.cancel(call="call-2")
    assert len(ends(world)) == 1
    cancelled = ends(world) == ["JobCancelled"]
    assert answers["cancel"] == Done() if cancelled else isinstance(answers["cancel"], Refused)
    if steps[0] == "cancel":
        assert answers["report"] == Refused(code="job_terminal")
        [refused, again] = [r.event for r in world.seen if isinstance(r.event, ReportRefused)]
        assert isinstance(refused, ReportRefused)
        assert (refused.reason, again) == ("job_terminal", refused)
        assert "JobExtracted" not in world.types()
    elif not cancelled:
        assert answers["cancel"] == Refused(code="job_terminal", message=f"the job is {finished}")
    else:  # extracted, and cancelled before its ACK came
        assert finished is Status.CANCELLED


def test_39_of_two_cancels_the_second_caller_is_told_that_the_job_has_ended() -> None:
    world = running()
    world.cancel(call="first")
    assert world.cancel(call="second") == []
    assert told(world) == Refused(code="job_terminal", message="the job is cancelled")
    assert world.cancel(call="first") == []
    assert told(world) == Done()


# ---- 40: cancel while claimed ----


def test_40_the_worker_is_told_at_once_and_again_at_its_next_heartbeat() -> None:
    world = running()
    world.cancel()
    drops = [reply for reply in world.sent.replies if reply.requester == "boot-1" and isinstance(reply.body, Drop)]
    assert [reply.body for reply in drops] == [Drop(job_ids=("j1",))]
    world.announce("boot-1", 8, "j1")
    assert told(world) == Drop(job_ids=("j1",))


def test_40_what_was_out_when_the_cancel_came_is_discarded_and_noted() -> None:
    world = running()
    world.cancel()
    [refused] = world.report(Extracted(result_ref="late"), node(0, body_ref="late"))
    assert isinstance(refused, ReportRefused)
    assert (refused.report, refused.reason) == ("extracted", "job_terminal")
    assert world.job().extracted is None
    assert not world.sent.deliveries
    assert "NodeFinished" not in world.types()


def test_40_a_cancelled_job_frees_its_slot_for_the_next_one() -> None:
    world = World().org(cap=1)
    world.submit("j1", "j2")
    world.claim()
    assert names(world.cancel()) == ["JobCancelled", "JobDispatched"]
    assert world.job("j2").task_out


def test_40_a_claim_that_comes_after_the_cancel_is_refused() -> None:
    world = World().org()
    world.submit()
    world.cancel()
    assert world.claim() == []
    assert told(world) == Refused(code="job_terminal", message="the job is cancelled")


# ---- cancel in the other states ----


def test_cancelling_in_extraction_done_leaves_a_late_ack_recorded_and_without_effect() -> None:
    world = World().extracted(destinations=(POSTGRES, HOOK))
    assert names(world.cancel()) == ["JobCancelled"]
    assert names(world.settle(ack())) == ["DeliveryAcked"]
    assert names(world.settle(ack(destination="hook"))) == ["DeliveryAcked"]
    assert ends(world) == ["JobCancelled"]


def test_cancelling_in_extraction_done_ends_the_tries_of_its_deliveries() -> None:
    world = World().extracted(destinations=(HOOK,))
    world.settle(ack(destination="hook", error_type="timeout"))
    world.cancel()
    assert world.after(3600) == []
    assert world.job().settled


def test_cancelling_in_waiting_retry_ends_the_wait() -> None:
    world = running()
    world.report(RetryLater(node_id="n0", try_number=2, delay_ms=5000), failed_node(0))
    world.cancel()
    assert world.after(6) == []
    assert world.types()[-1] == "JobCancelled"


def test_cancelling_takes_a_job_out_of_its_queue_and_a_sent_task_is_not_sent_again() -> None:
    world = World().org(cap=1)
    world.submit("j1", "j2")
    world.cancel("j2")
    assert names(world.cancel("j1")) == ["JobCancelled"]
    assert world.after(600) == []
    assert world.ledger.orgs["acme"].in_flight == 0


# ---- 44: late writes after a delete ----


def deleted(job: Job) -> bool:
    """Whether nothing is kept of a job but that it was there."""
    return job.deleted and (job.private, job.domain, job.extracted, job.ending.failed) == (b"", "", None, None)


def test_44_a_running_job_that_is_deleted_is_cancelled_first_and_its_worker_told() -> None:
    world = running(destinations=(POSTGRES, LAKE, HOOK))
    events = world.delete()
    assert names(events) == ["JobCancelled", "JobDeleted", "DeliveryRequested", "DeliveryRequested"]
    assert [(e.kind, e.erase) for e in events if isinstance(e, DeliveryRequested)] == [
        ("postgres", True),
        ("clickhouse", True),
    ]
    assert Drop(job_ids=("j1",)) in [reply.body for reply in world.sent.replies if reply.requester == "boot-1"]
    assert [(d.kind, d.erase) for d in world.sent.deliveries] == [("postgres", True), ("clickhouse", True)]
    assert deleted(world.job())


def test_44_nothing_that_comes_late_brings_a_deleted_job_back() -> None:
    world = World().extracted(destinations=(POSTGRES, HOOK))
    world.delete()
    late = [
        world.settle(ack(), ack(destination="hook", error_type="timeout")),
        world.report(EXTRACTED, node(1)),
        world.report(Failed(error_type="internal"), node(1)),
        world.claim(),
        world.cancel(),
        world.after(3600),
    ]
    assert [sorted(set(names(events))) for events in late] == [
        [],
        ["DeliveryRequested", "ReportRefused"],
        ["DeliveryRequested", "ReportRefused"],
        [],
        [],
        ["DeliveryRequested"],
    ]
    assert all(d.erase for events in late for d in events if isinstance(d, DeliveryRequested))
    assert deleted(world.job())
    assert ends(world) == ["JobCancelled"]
    assert world.types().count("JobDeleted") == 1


def test_44_a_late_report_makes_the_stores_forget_once_more() -> None:
    """Its worker may have left a body behind since the first time."""
    world = running()
    world.delete()
    world.settle(erasure())
    assert world.job().settled
    [refused, again] = world.report(EXTRACTED, node(0))
    assert isinstance(refused, ReportRefused)
    assert refused.reason == "job_deleted"
    assert isinstance(again, DeliveryRequested)
    assert (again.erase, again.generation) == (True, 2)
    assert world.settle(erasure()) == []
    assert not world.job().settled
    world.settle(erasure(generation=2))
    assert world.job().settled


def test_44_an_erasure_is_sent_again_until_it_is_answered() -> None:
    world = World().extracted()
    world.delete()
    [again] = world.after(31)
    assert isinstance(again, DeliveryRequested)
    assert (again.erase, again.try_number) == (True, 2)
    world.settle(erasure())
    assert world.after(3600) == []


def test_44_every_call_on_a_deleted_job_finds_none() -> None:
    world = World().extracted()
    world.settle(ack())
    assert names(world.delete()) == ["JobDeleted", "DeliveryRequested"]
    assert world.delete() == []
    assert told(world) == Done()
    assert world.cancel() == []
    assert told(world) == Refused(code="unknown_job")
    assert world.claim() == []
    assert isinstance(world.reply, Refused)
    assert world.reply.code == "job_deleted"


def test_44_the_end_of_a_job_stays_what_it_was() -> None:
    world = running()
    world.report(Failed(error_type="providers_exhausted"))
    world.delete()
    assert world.status() is Status.FAILED
    assert ends(world) == ["JobFailed"]
    [event] = [r.event for r in world.seen if isinstance(r.event, JobDeleted)]
    assert event.attempt == 1


def test_44_notices_and_deliveries_that_were_waiting_are_not_sent_any_more() -> None:
    world = World().extracted(destinations=(POSTGRES, HOOK))
    world.settle(ack(destination="hook", error_type="timeout"))
    world.delete()
    world.settle(erasure())
    assert world.after(24 * 3600) == []


def test_44_another_org_cannot_delete_a_job() -> None:
    world = World().org("other").extracted()
    assert world.delete(org_id="other") == []
    assert told(world) == Refused(code="unknown_job")


# ---- 43, 45: what belongs to the ledger ----


def test_43_a_job_that_reaches_its_limit_fails_and_keeps_what_was_reported() -> None:
    """The nodes reported until then stay in the trace; items of modules belong to their vocabulary."""
    world = running(max_run_seconds=10)
    world.report(None, node(0, body_ref="page-0"))
    events = world.after(11)
    assert names(events) == ["JobFailed"]
    [failed] = [event for event in events if isinstance(event, JobFailed)]
    assert failed.error_type == "timed_out"
    assert world.job().ending.at - world.job().run.first_claimed_at == 11 * SECOND
    assert world.job().resume.body_ref == "page-0"
    [refused] = world.report(EXTRACTED, node(1))
    assert isinstance(refused, ReportRefused)


def test_43_a_limit_that_falls_into_extraction_done_does_not_matter_any_more() -> None:
    world = running(max_run_seconds=10)
    world.report(EXTRACTED, node(0))
    world.now += 11 * SECOND
    assert "JobFailed" not in names(world.after(0))


def test_14_a_job_on_a_dead_worker_is_cancelled_and_stays_so_when_the_worker_is_missed() -> None:
    world = running()
    world.report(None, node(0))
    world.now += 10 * SECOND
    [cancelled] = world.cancel()
    assert isinstance(cancelled, JobCancelled)
    ended_at = world.job().ending.at
    world.now += 30 * SECOND
    assert names(world.lose("boot-1")) == ["WorkerLost"]
    world.after(3600)
    assert (world.status(), world.job().ending.at) == (Status.CANCELLED, ended_at)
