"""The life of a job, from submit to its end."""

import msgspec
import pytest

from schemas.events import (
    JobClaimed,
    JobCompleted,
    JobFailed,
    JobsArchived,
    NodeFinished,
    ReportRefused,
    RetryScheduled,
)
from schemas.values import Destination
from services.ledger.archive import recall
from services.ledger.commands import CancelJob
from services.ledger.job import parted
from services.ledger.policy import SECOND
from services.ledger.replies import Done, Drop, Granted, Refused
from services.ledger.reports import Failed, HandedBack, Outcome, RetryLater
from services.ledger.status import Status
from tests.unit.ledger.world import EXTRACTED, POSTGRES, World, ack, failed_node, names, node

WEBHOOK = Destination(destination_id="hook", kind="webhook")


def test_a_job_goes_from_submit_to_completed() -> None:
    world = World().org()
    assert names(world.submit()) == ["JobSubmitted", "JobDispatched"]
    assert names(world.claim()) == ["WorkerAlive", "JobClaimed"]
    assert names(world.report(EXTRACTED, node(0))) == ["NodeFinished", "JobExtracted", "DeliveryRequested"]
    assert world.status() is Status.EXTRACTION_DONE
    assert names(world.settle(ack())) == ["DeliveryAcked", "JobCompleted"]
    assert world.status() is Status.COMPLETED
    assert [r.header.seq for r in world.seen if r.event.job_id] == list(range(1, 9))


def test_the_gate_opens_once_after_the_last_distinct_ack_and_names_the_acks() -> None:
    world = World().extracted(destinations=(POSTGRES, WEBHOOK))
    assert names(world.settle(ack())) == ["DeliveryAcked"]
    assert world.settle(ack(), ack()) == []
    assert world.status() is Status.EXTRACTION_DONE
    [_acked, completed] = world.settle(ack(destination="hook"))
    assert isinstance(completed, JobCompleted)
    acks = [r.header.event_id for r in world.seen if r.header.event_type == "DeliveryAcked"]
    assert sorted(completed.opened_by) == sorted(acks)
    assert world.settle(ack(), ack(destination="hook")) == []


def test_the_same_ack_twice_in_one_batch_counts_once() -> None:
    world = World().extracted(destinations=(POSTGRES, WEBHOOK))
    assert names(world.settle(ack(), ack())) == ["DeliveryAcked"]


def test_two_destinations_in_one_batch_open_the_gate() -> None:
    world = World().extracted(destinations=(POSTGRES, WEBHOOK))
    assert names(world.settle(ack(), ack(destination="hook"))) == ["DeliveryAcked", "DeliveryAcked", "JobCompleted"]


def test_a_destination_that_does_not_gate_is_delivered_but_not_waited_for() -> None:
    loose = Destination(destination_id="loose", kind="postgres", gating=False)
    world = World().extracted(destinations=(loose,))
    assert world.types()[-2:] == ["DeliveryRequested", "JobCompleted"]
    assert world.status() is Status.COMPLETED
    assert names(world.settle(ack(destination="loose"))) == ["DeliveryAcked"]


def test_without_destinations_a_job_completes_when_it_is_extracted() -> None:
    world = World().extracted(destinations=())
    assert world.types()[-2:] == ["JobExtracted", "JobCompleted"]


def test_an_ack_of_an_unknown_destination_or_generation_changes_nothing() -> None:
    world = World().extracted()
    assert world.settle(ack(destination="other"), ack(generation=2), ack("nobody")) == []
    assert world.status() is Status.EXTRACTION_DONE


def test_a_claim_is_granted_once_and_repeated_to_the_same_worker() -> None:
    world = World().org()
    world.submit()
    world.claim()
    assert isinstance(world.reply, Granted)
    assert world.claim() == []
    assert world.reply == Granted(attempt=1, resume=world.job().resume)
    assert world.claim(boot="boot-2") == []
    assert isinstance(world.reply, Refused)


def test_a_stale_report_is_refused_and_recorded() -> None:
    world = World().org()
    world.submit()
    world.claim()
    world.lose("boot-1")
    world.claim(boot="boot-2")
    assert names(world.report(EXTRACTED, node(0))) == ["ReportRefused"]
    assert world.reply == Refused(code="stale_attempt")
    assert world.status() is Status.RUNNING
    assert names(world.report(EXTRACTED, node(0), boot="boot-2", attempt=2))[1] == "JobExtracted"


def test_a_report_that_comes_twice_is_recorded_once() -> None:
    world = World().org()
    world.submit()
    world.claim()
    world.report(None, node(0))
    assert world.report(None, node(0)) == []
    world.report(EXTRACTED, node(1))
    assert world.report(EXTRACTED, node(1)) == []
    assert world.reply == Done()


def test_finished_nodes_are_not_redone_by_the_next_worker() -> None:
    world = World().org()
    world.submit()
    world.claim()
    world.report(None, node(0, body_ref="b0"), failed_node(1))
    world.lose("boot-1")
    world.claim(boot="boot-2")
    granted = world.reply
    assert isinstance(granted, Granted)
    assert (granted.resume.step, granted.resume.node_id, granted.resume.try_number) == (2, "n1", 2)
    assert granted.resume.body_ref == "b0"


def test_a_deferred_retry_waits_without_a_slot_and_goes_first_when_due() -> None:
    world = World().org(cap=1)
    world.submit("j1", "j2", "j3")
    world.claim()
    later = RetryLater(node_id="n0", try_number=2, delay_ms=5000, error_type="http_503")
    events = world.report(later, failed_node(0))
    assert isinstance(events[1], RetryScheduled)
    assert events[1].due_at == world.now + 5 * SECOND
    assert names(events) == ["NodeFinished", "RetryScheduled", "JobDispatched"]
    assert world.job("j2").task_out
    assert world.after(6) == []  # due, but the cap is used up
    world.claim("j2")
    events = world.report(EXTRACTED, node(0), job_id="j2")
    assert events[-1].job_id == "j1"
    assert world.status() is Status.WAITING_RETRY
    world.claim()
    assert world.status() is Status.RUNNING


def test_a_failed_walk_fails_the_job_with_its_class() -> None:
    world = World().org()
    world.submit()
    world.claim()
    [failed] = world.report(Failed(error_type="validation_failed", rule="captcha", node_id="n3"))
    assert isinstance(failed, JobFailed)
    assert (failed.error_type, failed.rule, failed.node_id) == ("validation_failed", "captcha", "n3")
    assert world.report(Failed(error_type="validation_failed")) == []


def test_a_worker_lost_too_often_fails_the_job() -> None:
    world = World().org()
    world.submit()
    for boot in ("a", "b"):
        world.claim(boot=boot)
        assert names(world.lose(boot)) == ["JobReleased", "WorkerLost", "JobDispatched"]
    world.claim(boot="c")
    [failed, _lost] = world.lose("c")
    assert isinstance(failed, JobFailed)
    assert failed.error_type == "worker_lost"


def test_a_job_handed_back_is_dispatched_again_and_is_no_loss() -> None:
    world = World().org()
    world.submit()
    world.claim()
    assert names(world.report(HandedBack())) == ["JobReleased", "JobDispatched"]
    assert world.job().run.losses == 0


def test_a_cancelled_job_stays_cancelled_and_its_worker_is_told() -> None:
    world = World().org()
    world.submit()
    world.claim()
    cancel = CancelJob(command_id="x", org_id="acme", job_id="j1", correlation_id="call-1")
    assert names(world.when(cancel)) == ["JobCancelled"]
    assert [r.body for r in world.sent.replies if r.requester == "boot-1"] == [Drop(job_ids=("j1",))]
    assert world.when(cancel) == []
    assert world.reply == Done()
    assert world.when(msgspec.structs.replace(cancel, correlation_id="call-2")) == []
    assert isinstance(world.reply, Refused)
    assert names(world.report(EXTRACTED, node(0))) == ["ReportRefused"]
    assert world.status() is Status.CANCELLED


def test_a_pending_job_that_is_cancelled_leaves_its_queue() -> None:
    world = World().org(cap=1)
    world.submit("j1", "j2", "j3")
    world.when(CancelJob(command_id="x", org_id="acme", job_id="j2"))
    world.claim()
    assert world.report(EXTRACTED, node(0))[-1].job_id == "j3"


def test_another_org_cannot_touch_a_job() -> None:
    world = World().org().org("other")
    world.submit()
    assert world.when(CancelJob(command_id="x", org_id="other", job_id="j1")) == []
    assert world.claim(org_id="other") == []
    assert world.report(EXTRACTED, org_id="other") == []
    assert [reply.body for reply in world.sent.replies[-3:]] == [Refused(code="unknown_job")] * 3
    assert world.status() is Status.PENDING


@pytest.mark.parametrize(
    ("outcome", "report"),
    [
        (None, "nodes"),
        (EXTRACTED, "extracted"),
        (Failed(error_type="providers_exhausted"), "failed"),
        (RetryLater(node_id="n0", try_number=2, delay_ms=1000), "retry"),
        (HandedBack(), "release"),
    ],
)
def test_a_refused_report_is_named_as_the_contract_says(outcome: Outcome | None, report: str) -> None:
    world = World().org()
    world.submit()
    world.claim()
    [refused] = world.report(outcome, node(0), attempt=7)
    assert isinstance(refused, ReportRefused)
    assert refused.report == report


def test_a_claimed_job_has_a_run_time_limit() -> None:
    world = World().org()
    world.submit(max_run_seconds=60)
    assert names(world.after(61)) == ["JobDispatched"]  # not claimed: its clock does not run yet
    world.claim()
    assert isinstance(world.seen[-1].event, JobClaimed)
    [failed] = world.after(61)
    assert isinstance(failed, JobFailed)
    assert failed.error_type == "timed_out"


def test_node_times_come_from_the_decider_and_never_run_backwards() -> None:
    world = World().org()
    world.submit()
    world.claim()
    claimed_at = world.now
    world.now += SECOND
    [finished] = world.report(None, node(0, latency_ms=3_600_000))
    assert isinstance(finished, NodeFinished)
    assert (finished.started_at, finished.ended_at) == (claimed_at, world.now)


def test_an_earlier_attempt_of_the_same_worker_is_stale_too() -> None:
    world = World().org()
    world.submit()
    world.claim()
    world.report(HandedBack())
    world.claim()
    assert names(world.report(EXTRACTED, node(0), attempt=1)) == ["ReportRefused"]
    assert world.status() is Status.RUNNING


def test_a_report_that_repeats_an_earlier_node_adds_only_the_new_ones() -> None:
    world = World().org()
    world.submit()
    world.claim()
    world.report(None, node(0))
    [finished] = world.report(None, node(0), node(1))
    assert isinstance(finished, NodeFinished)
    assert finished.step == 1


def test_recorded_time_does_not_run_backwards_with_the_clock() -> None:
    world = World().org()
    world.submit()
    world.now -= 600 * SECOND
    world.claim()
    world.report(EXTRACTED, node(0, latency_ms=10))
    times = [recorded.header.occurred_at for recorded in world.seen]
    assert times == sorted(times)


def test_a_log_in_which_a_job_was_let_go_before_its_worker_had_stopped_is_folded_to_its_end() -> None:
    world = World().org()
    world.submit()
    world.claim()
    world.cancel()
    world.decider.say(recall(parted(world.job())), world.now)  # as deciders of before did, and let it go again
    world.decider.say(JobsArchived(up_to=world.ledger.position), world.now)
    assert "j1" not in world.ledger.jobs
    assert names(world.lose("boot-1"))[-1] == "WorkerLost"
