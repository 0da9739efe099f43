"""Notices of the end of a job: requested by the event that ended it, never waited for, looked after until settled."""

import pytest

from schemas.events import AnyEvent, DeliveryFailed, DeliveryRequested
from schemas.values import After, Destination
from services.ledger.commands import CancelJob
from services.ledger.policy import Policy
from services.ledger.replies import Refused
from services.ledger.reports import Failed
from services.ledger.status import Status
from services.ledger.tasks import Delivery
from tests.unit.ledger.world import EXTRACTED, POSTGRES, World, ack, names, node

HOOK = Destination(destination_id="wh-1", kind="webhook")
COMPLETED = Destination(destination_id="wh-1:job.completed", kind="webhook", gating=False, after=After.COMPLETED)
FAILED = Destination(destination_id="wh-1:job.failed", kind="webhook", gating=False, after=After.FAILED)
PLACES = (POSTGRES, HOOK, COMPLETED, FAILED)


def requested(events: list[AnyEvent]) -> list[str]:
    return [event.destination_id for event in events if isinstance(event, DeliveryRequested)]


def running(policy: Policy | None = None) -> World:
    world = World(policy or Policy(spread_percent=0)).org()
    world.submit(destinations=PLACES)
    world.claim()
    return world


def last_sent(world: World) -> Delivery:
    return world.sent.deliveries[-1]


def test_an_extraction_requests_the_data_deliveries_and_no_notice() -> None:
    world = World().extracted(destinations=PLACES)
    assert requested([r.event for r in world.seen]) == ["internal-postgres", "wh-1"]


def test_the_last_ack_completes_the_job_and_requests_the_notice_behind_it() -> None:
    world = World().extracted(destinations=PLACES)
    events = world.settle(ack(), ack(destination="wh-1"))
    assert names(events) == ["DeliveryAcked", "DeliveryAcked", "JobCompleted", "DeliveryRequested"]
    assert requested(events) == ["wh-1:job.completed"]
    completed = next(r for r in world.seen if r.header.event_type == "JobCompleted")
    sent = last_sent(world)
    assert (sent.after, sent.ended_position, sent.ended_at) == (
        After.COMPLETED,
        completed.header.position,
        completed.header.occurred_at,
    )
    assert sent.extraction_ref == "data"


def test_a_notice_is_not_among_the_acks_that_the_gate_waits_for_or_names() -> None:
    world = World().extracted(destinations=PLACES)
    world.settle(ack(), ack(destination="wh-1"))
    assert names(world.settle(ack(destination="wh-1:job.completed"))) == ["DeliveryAcked"]
    assert world.status() is Status.COMPLETED


def test_a_reported_failure_requests_the_notice_of_it_with_its_reason_and_no_message() -> None:
    world = running()
    private = b'\0{"message":"secret"}'
    events = world.report(Failed(error_type="validation_failed", rule="captcha", node_id="n1", private=private))
    assert requested(events) == ["wh-1:job.failed"]
    sent = last_sent(world)
    assert sent.after is After.FAILED
    assert sent.failed == Failed(error_type="validation_failed", rule="captcha", node_id="n1")
    assert world.job().ending.failed is not None
    assert world.job().ending.failed.private == b""  # type: ignore[union-attr]
    assert sent.ended_position == world.job().ending.position > 0


def test_a_job_that_times_out_requests_the_notice_of_it() -> None:
    world = World().org()
    world.submit(destinations=PLACES, max_run_seconds=60)
    world.claim()
    assert requested(world.after(61)) == ["wh-1:job.failed"]


def test_a_job_whose_workers_are_lost_too_often_requests_the_notice_of_it() -> None:
    world = running(Policy(max_losses=1))
    assert requested(world.lose("boot-1")) == ["wh-1:job.failed"]


@pytest.mark.parametrize("extracted", [False, True])
def test_a_cancelled_job_is_told_of_to_nobody(extracted: bool) -> None:
    world = running()
    if extracted:
        world.report(EXTRACTED, node(0))
    assert names(world.when(CancelJob(command_id="x", org_id="acme", job_id="j1"))) == ["JobCancelled"]
    assert world.after(24 * 3600) == []


@pytest.mark.parametrize("end", ["completed", "failed"])
def test_a_notice_that_fails_is_tried_again_by_the_schedule_and_given_up_at_its_end(end: str) -> None:
    place = f"wh-1:job.{end}"
    world = running()
    if end == "failed":
        world.report(Failed(error_type="providers_exhausted"))
    else:
        world.report(EXTRACTED, node(0))
        world.settle(ack(), ack(destination="wh-1"))
    for failures, wait in enumerate(world.policy.webhook_schedule, 1):
        [failed] = world.settle(ack(destination=place, error_type="http_500", try_number=failures))
        assert isinstance(failed, DeliveryFailed)
        assert failed.next_try_at == world.now + wait
        assert requested(world.after(wait / 1_000_000)) == [place]
        assert last_sent(world).ended_position == world.job().ending.position
    last = world.settle(ack(destination=place, error_type="http_500", try_number=99))
    assert names(last) == ["DeliveryFailed", "DeliveryDeadLettered"]


def test_an_unanswered_notice_of_a_failure_goes_out_again() -> None:
    world = running()
    world.report(Failed(error_type="providers_exhausted"))
    assert requested(world.after(31)) == ["wh-1:job.failed"]


def test_a_receiver_that_asks_for_time_gets_it() -> None:
    world = running()
    world.report(Failed(error_type="providers_exhausted"))
    asked = ack(destination="wh-1:job.failed", error_type="http_429", retry_after_ms=90_000)
    [failed] = world.settle(asked)
    assert isinstance(failed, DeliveryFailed)
    assert failed.next_try_at == world.now + 90_000_000
    assert world.after(89) == []
    assert requested(world.after(1)) == ["wh-1:job.failed"]


def test_a_job_stays_in_memory_until_its_notices_are_settled() -> None:
    world = running()
    world.report(Failed(error_type="providers_exhausted"))
    assert "j1" not in world.ledger.ended
    world.settle(ack(destination="wh-1:job.failed"))
    assert "j1" in world.ledger.ended


def test_a_submission_whose_notice_would_gate_is_refused() -> None:
    world = World().org()
    gating = Destination(destination_id="x", kind="webhook", after=After.COMPLETED)
    assert world.submit(destinations=(gating,)) == []
    assert world.reply == Refused(code="gating_notice", message="a notice of the end of a job cannot gate it")
