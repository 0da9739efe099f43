"""Endpoints that only fail are disabled after the stated span, and what is queued for them is closed at once."""

import msgspec
import pytest

from schemas.events import AnyEvent, DeliveryDeadLettered, DeliveryWaived, EndpointDisabled, JobFailed
from schemas.values import After, Destination, OnExhausted
from services.ledger.commands import RedeliverJob
from services.ledger.digest import digest_of_state
from services.ledger.endpoints import MOST, SILENCE
from services.ledger.policy import HOUR, SECOND, Policy
from services.ledger.reports import DeliveryResult
from services.ledger.snapshot import Rebuild, parts_of
from services.ledger.status import Status
from tests.unit.ledger.world import POSTGRES, World, ack, names

HOOK = Destination(destination_id="wh-1", kind="webhook")
NOTICE = Destination(destination_id="wh-1:job.completed", kind="webhook", gating=False, after=After.COMPLETED)
POLICY = Policy(spread_percent=0, webhook_schedule=(10 * HOUR,) * 100, gate_deadline=1000 * HOUR)


def world_of(*job_ids: str, hook: Destination = HOOK, policy: Policy = POLICY) -> World:
    """Jobs that wait for the endpoint alone."""
    world = World(policy)
    for job_id in job_ids:
        extract(world, job_id, hook)
    return world


def extract(world: World, job_id: str, hook: Destination = HOOK) -> None:
    """Have one more job delivered to the endpoint."""
    world.extracted(job_id, destinations=(POSTGRES, hook, NOTICE))
    world.settle(ack(job_id))


def answer(world: World, job_id: str, error_type: str = "http_500", **fields: object) -> list[AnyEvent]:
    """Let the endpoint answer for a job's newest try."""
    delivery = world.job(job_id).delivery(str(fields.get("destination_id", "wh-1")))
    assert delivery is not None
    result = DeliveryResult(
        org_id="acme",
        job_id=job_id,
        destination_id="wh-1",
        generation=delivery.generation,
        try_number=delivery.try_number,
        error_type=error_type,
        endpoint_version=1,
    )
    return world.settle(msgspec.structs.replace(result, **fields))


def fail_for(world: World, job_id: str, hours: float) -> list[AnyEvent]:
    """Let every try fail, each ten hours behind the one before, for so long; return what the last one led to."""
    events = answer(world, job_id)
    for _ in range(int(hours // 10)):
        world.after(10 * 3600)
        events = answer(world, job_id)
    return events


def disabled(events: list[AnyEvent]) -> list[EndpointDisabled]:
    """Return the events that tell the owner."""
    return [event for event in events if isinstance(event, EndpointDisabled)]


def test_an_endpoint_is_disabled_after_five_days_of_nothing_but_failures_and_not_before() -> None:
    world = world_of("j1")
    began = world.now
    assert not disabled(fail_for(world, "j1", 110))
    world.after(10 * 3600)
    events = answer(world, "j1", "http_503")
    assert world.now - began == 5 * 24 * HOUR
    [told] = disabled(events)
    assert (told.org_id, told.job_id, told.webhook_id, told.reason) == ("acme", "", "wh-1", "failing")
    assert (told.first_failed_at, told.error_type, told.endpoint_version) == (began, "http_503", 1)


def test_the_span_is_a_setting() -> None:
    world = world_of("j1", policy=Policy(endpoint_span=30 * SECOND))
    answer(world, "j1")
    world.after(31)
    assert disabled(answer(world, "j1"))


def test_65_one_failed_job_among_successes_never_disables() -> None:
    world = world_of("bad")
    for number in range(20):
        answer(world, "bad")
        world.after(10 * 3600)
        extract(world, f"good{number}")
        assert names(answer(world, f"good{number}", ""))[0] == "DeliveryAcked"
    assert not disabled([recorded.event for recorded in world.seen])
    assert world.ledger.orgs["acme"].endpoints.failing == {}


@pytest.mark.parametrize("error_type", ["store_unavailable", "extraction_missing"])
def test_what_is_our_own_fault_is_not_held_against_an_endpoint(error_type: str) -> None:
    world = world_of("j1")
    for _ in range(20):
        assert not disabled(answer(world, "j1", error_type))
        world.after(10 * 3600)


def test_a_failure_long_after_the_last_one_begins_a_new_span() -> None:
    world = world_of("j1", "j2")
    answer(world, "j1", retryable=False)
    world.after(SILENCE / SECOND + 1)
    assert not disabled(answer(world, "j2"))
    assert not disabled(fail_for(world, "j2", 0))
    assert world.ledger.orgs["acme"].endpoints.failing["wh-1"].since == world.now


def test_a_new_version_of_an_endpoint_begins_a_new_span_and_an_answer_of_the_old_one_says_nothing() -> None:
    world = world_of("j1", "j2")
    fail_for(world, "j1", 100)
    answer(world, "j2", endpoint_version=2)
    begun = world.now
    world.after(10 * 3600)
    assert not disabled(answer(world, "j1", endpoint_version=1))
    world.after(10 * 3600)
    assert not disabled(answer(world, "j2", endpoint_version=2))
    assert world.ledger.orgs["acme"].endpoints.failing["wh-1"].since == begun


@pytest.mark.parametrize(
    ("on_exhausted", "status"),
    [(OnExhausted.HOLD, Status.COMPLETED), (OnExhausted.WAIVE, Status.COMPLETED), (OnExhausted.FAIL, Status.FAILED)],
)
def test_what_waits_for_its_next_try_is_closed_at_once_and_its_job_goes_on(
    on_exhausted: OnExhausted, status: Status
) -> None:
    hook = msgspec.structs.replace(HOOK, on_exhausted=on_exhausted)
    world = world_of("j1", "j2", "j3", hook=hook)
    fail_for(world, "j1", 110)
    world.after(5 * 3600)
    answer(world, "j2")
    world.after(5 * 3600)
    assert disabled(answer(world, "j1"))
    events = world.after(0)
    closed = [e for e in events if isinstance(e, DeliveryDeadLettered) and e.destination_id == "wh-1"]
    assert [(event.job_id, event.closed, event.error_type) for event in closed] == [
        ("j1", True, "endpoint_closed"),
        ("j2", True, "endpoint_closed"),
    ]
    assert {world.status("j1"), world.status("j2")} == {status}
    ends = [event for event in events if isinstance(event, DeliveryWaived | JobFailed)]
    assert len(ends) == 2
    # the third is with the writer: it is closed when its answer, or none, comes
    assert world.status("j3") is Status.EXTRACTION_DONE
    late = answer(world, "j3")
    assert names(late)[:2] == ["DeliveryFailed", "DeliveryDeadLettered"]
    assert world.status("j3") is status
    assert not disabled(late), "the owner is told once"


def test_what_nobody_answers_is_closed_too() -> None:
    world = world_of("j1", "j2")
    answer(world, "j1", "gone", retryable=False, closed=True)
    assert world.status("j1") is Status.COMPLETED
    events = world.after(31)
    assert "DeliveryRequested" not in names([event for event in events if event.job_id == "j1"])
    assert world.status("j2") is Status.COMPLETED


def test_410_disables_at_once_and_tells_the_owner_once() -> None:
    world = world_of("j1", "j2")
    [told] = disabled(answer(world, "j1", "gone", retryable=False, closed=True))
    assert (told.reason, told.error_type, told.first_failed_at) == ("gone", "gone", world.now)
    assert not disabled(answer(world, "j2", "gone", retryable=False, closed=True))


def test_410_of_an_earlier_version_says_nothing_of_a_later_one_that_failed_in_the_same_batch() -> None:
    world = world_of("j1", "j2")
    answer(world, "j1", endpoint_version=2)
    assert not disabled(answer(world, "j2", "gone", retryable=False, closed=True, endpoint_version=1))


def test_what_is_closed_of_an_earlier_version_leaves_the_span_of_a_later_one_as_it_is() -> None:
    world = world_of("j1", "j2")
    answer(world, "j1", "gone", retryable=False, closed=True)
    world.after(1)
    extract(world, "j3")
    answer(world, "j3", endpoint_version=2)
    assert names(answer(world, "j2"))[:2] == ["DeliveryFailed", "DeliveryDeadLettered"]
    assert "wh-1" in world.ledger.orgs["acme"].endpoints.failing


def test_what_a_writer_has_is_not_closed_by_a_wait_of_before() -> None:
    world = world_of("j1", "j2", policy=Policy(spread_percent=0, webhook_schedule=(SECOND,) * 9))
    answer(world, "j2")
    world.after(1)  # out again, until a minute from now; the wait for the answer to its first try goes on until 30 s
    answer(world, "j1", "gone", retryable=False, closed=True)
    assert [event for event in world.after(30) if event.job_id == "j2"] == []
    assert names(answer(world, "j2", ""))[0] == "DeliveryAcked"
    assert world.status("j2") is Status.COMPLETED


def test_an_endpoint_that_is_enabled_again_is_delivered_to_and_may_be_disabled_again() -> None:
    world = world_of("j1")
    answer(world, "j1", "gone", retryable=False, closed=True)
    world.after(60)
    extract(world, "j2")
    assert names(answer(world, "j2", "", endpoint_version=2))[0] == "DeliveryAcked"
    redeliver = RedeliverJob(command_id="r", org_id="acme", job_id="j1", destination_id="wh-1", generation=2)
    assert names(world.when(redeliver)) == ["DeliveryRequested"]
    [failed] = answer(world, "j1", endpoint_version=2)
    assert names([failed]) == ["DeliveryFailed"]
    assert names(world.after(10 * 3600))[-1] == "DeliveryRequested"
    assert disabled(answer(world, "j1", "gone", retryable=False, closed=True, endpoint_version=2))


def test_a_store_is_never_disabled() -> None:
    world = World(Policy(spread_percent=0, delivery_schedule=(10 * HOUR,) * 100, gate_deadline=1000 * HOUR)).extracted()
    for _ in range(20):
        number = world.job().deliveries[0].try_number
        assert not disabled(world.settle(ack(error_type="connection", rows=0, try_number=number)))
        world.after(10 * 3600)


def test_a_snapshot_knows_what_fails_and_what_is_disabled_and_finds_what_is_queued() -> None:
    world = world_of("j1", "j2")
    answer(world, "j2")
    rebuild = Rebuild(0, world.policy)
    for part in parts_of(world.ledger):
        rebuild.add(part)
    restored = rebuild.ledger.orgs["acme"].endpoints
    assert restored.queued == {"wh-1": {"j2"}}
    assert restored.failing == world.ledger.orgs["acme"].endpoints.failing != {}
    answer(world, "j1", "gone", retryable=False, closed=True)
    rebuild = Rebuild(0, world.policy)
    for part in parts_of(world.ledger):
        rebuild.add(part)
    assert rebuild.ledger.orgs["acme"].endpoints.disabled == world.ledger.orgs["acme"].endpoints.disabled != {}
    assert digest_of_state(rebuild.ledger) == digest_of_state(world.ledger)


def test_a_cancelled_job_leaves_nothing_queued() -> None:
    world = world_of("j1")
    answer(world, "j1")
    world.cancel("j1")
    assert world.ledger.orgs["acme"].endpoints.queued == {}


def test_no_more_than_a_hundred_endpoints_of_an_org_are_remembered() -> None:
    world = World(POLICY)
    for number in range(MOST + 20):
        place = Destination(destination_id=f"wh-{number}", kind="webhook")
        world.extracted(f"j{number}", destinations=(place,))
        world.settle(ack(f"j{number}", destination=place.destination_id, error_type="http_500", rows=0))
    failing = world.ledger.orgs["acme"].endpoints.failing
    assert len(failing) == MOST
    assert "wh-0" not in failing
