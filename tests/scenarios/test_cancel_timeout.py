"""Scenarios 39 to 43 and 14 by the rules of the ledger: cancel and timeout."""

import random

from schemas.events import JobCancelled, JobFailed, ReportRefused
from schemas.private import private_json
from services.ledger.policy import SECOND
from services.ledger.replies import Done, Drop, Refused
from services.ledger.reports import Extracted, Failed, Outcome, RetryLater
from services.ledger.status import Status
from tests.scenarios.one_job import HOOK, ends, running, told
from tests.unit.ledger.world import EXTRACTED, POSTGRES, World, ack, failed_node, names, node

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
        assert answers["cancel"] == Refused(code="job_terminal", message=f"the job is {finished}", status=finished)
    else:  # extracted, and cancelled before its ACK came
        assert finished is Status.CANCELLED


def test_39_of_two_cancels_the_second_caller_is_told_that_the_job_has_ended() -> None:
    world = running()
    world.cancel(call="first")
    assert world.cancel(call="second") == []
    assert told(world) == Refused(code="job_terminal", message="the job is cancelled", status="cancelled")
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


# ---- 43: timeout ----


def test_43_a_job_that_reaches_its_limit_fails_and_keeps_what_was_reported() -> None:
    """The nodes reported until then stay in the trace; items of modules belong to their vocabulary."""
    world = running(max_run_seconds=10)
    world.report(None, node(0, body_ref="page-0"))
    events = world.after(11)
    assert names(events) == ["JobFailed"]
    [failed] = [event for event in events if isinstance(event, JobFailed)]
    assert failed.error_type == "timed_out"
    assert "maxRunSeconds 10" in (private_json(failed.private) or b"").decode()
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
