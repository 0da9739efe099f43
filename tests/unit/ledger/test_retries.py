"""When a delivery is tried again: by the schedule of its kind, spread, and as the event said whatever is set later."""

import msgspec
import pytest

from schemas.events import DeliveryFailed
from schemas.values import Destination
from services.ledger.apply import apply
from services.ledger.delivery import DeliveryState, DeliveryStatus
from services.ledger.policy import HOUR, MINUTE, SECOND, Policy
from services.ledger.record import digest_of
from services.ledger.retries import schedule_of, spread, waits_of
from services.runtime.policy import policy_of
from services.runtime.settings import Settings
from tests.unit.ledger.world import POSTGRES, World, ack, names

HOOK = Destination(destination_id="hook", kind="webhook")
STANDARD = (0, 5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 10 * 3600)  # seconds before each try


def failed(world: World, try_number: int) -> DeliveryFailed:
    """Let a try of the webhook fail."""
    event = world.settle(ack(destination="hook", error_type="http_500", rows=0, try_number=try_number))[0]
    assert isinstance(event, DeliveryFailed)
    return event


def test_a_webhook_has_the_eight_tries_of_standard_webhooks_and_no_ninth() -> None:
    world = World().extracted(destinations=(POSTGRES, HOOK))
    world.settle(ack())
    for number, wait in enumerate(STANDARD[1:], 1):
        assert failed(world, number).next_try_at == world.now + wait * SECOND
        assert names(world.after(wait)) == ["DeliveryRequested"]
    assert failed(world, len(STANDARD)).next_try_at == 0
    assert world.job().deliveries[-1].state is DeliveryState.DEAD


def test_a_store_keeps_its_own_schedule() -> None:
    policy = Policy()
    assert waits_of(policy, "postgres")[:3] == (SECOND, 5 * SECOND, 30 * SECOND)
    assert waits_of(policy, "webhook")[:2] == (5 * SECOND, 5 * MINUTE)


def test_the_settings_have_the_schedules_of_the_rules() -> None:
    policy, rules = policy_of(Settings(kafka="", postgres="", registry="", blobs="")), Policy()
    assert (policy.webhook_schedule, policy.delivery_schedule) == (rules.webhook_schedule, rules.delivery_schedule)
    assert policy.gate_deadline == rules.gate_deadline
    assert policy.endpoint_span == rules.endpoint_span == 5 * 24 * HOUR


@pytest.mark.parametrize("kind", ["webhook", "postgres"])
def test_a_job_waits_longer_for_its_gate_than_all_tries_take_together(kind: str) -> None:
    policy = Policy()
    longest = sum(wait + wait * policy.spread_percent // 100 for wait in waits_of(policy, kind))
    assert longest < 31 * HOUR < policy.gate_deadline


def test_tries_that_failed_together_come_back_spread_over_a_tenth_of_the_wait_and_always_alike() -> None:
    policy, delivery = Policy(), DeliveryStatus(HOOK, 1, 1, DeliveryState.REQUESTED, changed_at=0)
    waits = [spread(policy, 1000 * SECOND, f"j{number}", delivery) for number in range(1000)]
    assert waits == [spread(policy, 1000 * SECOND, f"j{number}", delivery) for number in range(1000)]
    assert 1000 * SECOND <= min(waits) <= max(waits) <= 1100 * SECOND
    tenths = [
        sum(first <= (wait - 1000 * SECOND) // (10 * SECOND) < first + 1 for wait in waits) for first in range(10)
    ]
    assert min(tenths) > 50, "each tenth of the span gets about a hundred of a thousand"
    later = msgspec.structs.replace(delivery, try_number=2)
    assert spread(policy, 1000 * SECOND, "j1", later) != waits[1], "who was early once is not early each time"


def test_a_changed_schedule_holds_for_failures_to_come_and_leaves_dates_as_they_are() -> None:
    world = World(Policy(spread_percent=0)).extracted(destinations=(POSTGRES, HOOK))
    dated = failed(world, 1).next_try_at
    later = World(Policy(webhook_schedule=(HOUR, HOUR), spread_percent=0), now=world.now)
    for recorded in world.seen:
        apply(later.ledger, recorded, digest_of(b""))
        later.keeper.take(recorded)
    assert later.job().deliveries[-1].next_try_at == dated
    assert names(later.after(5)) == ["DeliveryRequested"]
    assert failed(later, 2).next_try_at == later.now + HOUR


def test_a_schedule_is_read_as_the_waits_behind_the_first_try() -> None:
    assert schedule_of("0,5,0.5") == (5 * SECOND, SECOND // 2)
    assert schedule_of("0") == ()
