"""Verdicts of the gate: what becomes of a job whose destination does not acknowledge; redeliveries and waivers."""

import msgspec
import pytest

from schemas.events import AnyEvent, DeliveryDeadLettered, DeliveryRequested, DeliveryWaived, JobCompleted, JobFailed
from schemas.values import After, Destination, OnExhausted
from services.ledger.commands import RedeliverJob, WaiveDelivery
from services.ledger.delivery import DeliveryState
from services.ledger.policy import HOUR, SECOND, Policy
from services.ledger.replies import Done, Refused
from services.ledger.reports import Failed
from services.ledger.status import Status
from tests.unit.ledger.world import POSTGRES, World, ack, names

NO_TRIES = Policy(delivery_schedule=(), webhook_schedule=(), spread_percent=0)
HOOK = "hook"


def hook(on_exhausted: OnExhausted = OnExhausted.HOLD, **fields: object) -> Destination:
    return Destination(destination_id=HOOK, kind="webhook", on_exhausted=on_exhausted, **fields)  # type: ignore[arg-type]


def waiting(on_exhausted: OnExhausted = OnExhausted.HOLD, policy: Policy = NO_TRIES, **fields: object) -> World:
    """A job whose Postgres has acknowledged and whose webhook has not."""
    notice = Destination(destination_id="end", kind="webhook", gating=False, after=After.COMPLETED)
    failure = Destination(destination_id="bad", kind="webhook", gating=False, after=After.FAILED)
    notices = (notice, failure) if on_exhausted is OnExhausted.FAIL else (notice,)
    world = World(policy).extracted(destinations=(POSTGRES, hook(on_exhausted, **fields), *notices))
    world.settle(ack())
    return world


def give_up(world: World, **fields: bool) -> list[AnyEvent]:
    return world.settle(msgspec.structs.replace(ack(destination=HOOK, error_type="http_500", rows=0), **fields))


def waive(place: str = HOOK, job_id: str = "j1", generation: int = 1) -> WaiveDelivery:
    return WaiveDelivery(command_id="w", org_id="acme", job_id=job_id, destination_id=place, generation=generation)


def redeliver(generation: int, place: str = HOOK, job_id: str = "j1") -> RedeliverJob:
    return RedeliverJob(command_id="r", org_id="acme", job_id=job_id, destination_id=place, generation=generation)


def id_of(world: World, kind: type[AnyEvent], place: str) -> bytes:
    return next(
        r.header.event_id
        for r in world.seen
        if isinstance(r.event, kind) and getattr(r.event, "destination_id", "") == place
    )


def opened_by(events: list[AnyEvent]) -> set[bytes]:
    return {each for event in events if isinstance(event, JobCompleted) for each in event.opened_by}


# ---- given up ----


def test_a_delivery_given_up_under_waive_opens_the_gate_and_the_job_names_the_waiver() -> None:
    world = waiting(OnExhausted.WAIVE)
    events = give_up(world)
    assert names(events) == [
        "DeliveryFailed",
        "DeliveryDeadLettered",
        "DeliveryWaived",
        "JobCompleted",
        "DeliveryRequested",
    ]
    waiver = next(event for event in events if isinstance(event, DeliveryWaived))
    assert (waiver.destination_id, waiver.reason) == (HOOK, "exhausted")
    acked = next(r.header.event_id for r in world.seen if r.header.event_type == "DeliveryAcked")
    assert opened_by(events) == {acked, id_of(world, DeliveryWaived, HOOK)}


def test_a_delivery_given_up_under_fail_ends_the_job_and_names_the_destination() -> None:
    world = waiting(OnExhausted.FAIL)
    events = give_up(world)
    assert names(events) == ["DeliveryFailed", "DeliveryDeadLettered", "JobFailed", "DeliveryRequested"]
    failed = events[2]
    assert isinstance(failed, JobFailed)
    assert (failed.error_type, failed.destination_id) == ("delivery_failed", HOOK)
    assert b"hook gave up after 1 failed tries" in failed.private
    told = world.sent.deliveries[-1]
    assert (told.after, told.failed) == (After.FAILED, Failed(error_type="delivery_failed", destination_id=HOOK))
    world.settle(ack(destination="bad"))
    assert world.after(100 * 24 * 3600) == []


def test_a_delivery_given_up_under_hold_waits_for_a_person_until_the_deadline_and_then_ends_the_job() -> None:
    world = waiting()
    assert names(give_up(world)) == ["DeliveryFailed", "DeliveryDeadLettered"]
    assert world.after(72 * 3600 - 1) == []
    [failed] = world.after(1)
    assert isinstance(failed, JobFailed)
    assert (failed.error_type, failed.destination_id) == ("gate_deadline", HOOK)


def test_two_deliveries_given_up_in_one_answer_end_the_job_once() -> None:
    places = (
        POSTGRES,
        hook(OnExhausted.FAIL),
        Destination(destination_id="b", kind="x", on_exhausted=OnExhausted.FAIL),
    )
    world = World(NO_TRIES).extracted(destinations=places)
    events = world.settle(*(ack(destination=place, error_type="http_500", rows=0) for place in (HOOK, "b")))
    assert names(events).count("JobFailed") == 1


def test_a_delivery_that_does_not_gate_changes_nothing_when_it_is_given_up() -> None:
    world = waiting(OnExhausted.FAIL, gating=False)
    assert world.status() is Status.COMPLETED
    assert names(give_up(world)) == ["DeliveryFailed", "DeliveryDeadLettered"]
    assert world.status() is Status.COMPLETED


# ---- closed ----


@pytest.mark.parametrize("policy", [OnExhausted.HOLD, OnExhausted.WAIVE, OnExhausted.UNKNOWN])
def test_a_destination_that_was_closed_holds_no_job(policy: OnExhausted) -> None:
    world = waiting(policy, Policy())  # with tries left: none of them could succeed
    events = give_up(world, closed=True)
    assert names(events)[:4] == ["DeliveryFailed", "DeliveryDeadLettered", "DeliveryWaived", "JobCompleted"]
    dead, waiver = events[1], events[2]
    assert isinstance(dead, DeliveryDeadLettered)
    assert dead.closed
    assert isinstance(waiver, DeliveryWaived)
    assert waiver.reason == "destination_closed"


def test_a_destination_that_was_closed_fails_the_job_where_its_policy_says_so() -> None:
    failed = give_up(waiting(OnExhausted.FAIL, Policy()), closed=True)[2]
    assert isinstance(failed, JobFailed)
    assert (failed.error_type, failed.destination_id) == ("delivery_failed", HOOK)
    assert b"was deleted or disabled" in failed.private


# ---- deadline ----


def test_an_unanswered_delivery_is_judged_at_the_deadline_and_not_sooner() -> None:
    world = waiting(policy=Policy(gate_deadline=100 * SECOND))
    for _ in range(99):
        assert set(names(world.after(1))) <= {"DeliveryRequested"}
    assert names(world.after(1)) == ["JobFailed"]
    assert world.after(24 * 3600) == []


def test_a_destination_may_have_a_deadline_of_its_own() -> None:
    world = waiting(OnExhausted.WAIVE, Policy(), gate_seconds=7)
    assert world.after(6) == []
    events = world.after(1)
    assert names(events) == ["DeliveryWaived", "JobCompleted", "DeliveryRequested"]
    assert isinstance(events[0], DeliveryWaived)
    assert events[0].reason == "gate_deadline"


def test_a_deadline_before_the_next_try_is_kept() -> None:
    world = waiting(policy=Policy(webhook_schedule=(10 * HOUR,), spread_percent=0, gate_deadline=HOUR))
    give_up(world)
    assert world.after(3599) == []
    assert names(world.after(1)) == ["JobFailed"]


def test_an_ack_after_the_verdict_is_recorded_and_changes_nothing_else() -> None:
    for policy in (OnExhausted.FAIL, OnExhausted.WAIVE):
        world = waiting(policy, Policy(gate_deadline=60 * SECOND))
        world.after(61)
        ended = world.status()
        assert ended.value in ("failed", "completed")
        assert names(world.settle(ack(destination=HOOK))) == ["DeliveryAcked"]
        assert world.settle(ack(destination=HOOK)) == []
        assert world.status() is ended


def test_a_redelivery_gets_the_whole_time_again() -> None:
    world = waiting(policy=Policy(webhook_schedule=(), gate_deadline=100 * SECOND))
    give_up(world)
    world.after(90)
    assert names(world.when(redeliver(2))) == ["DeliveryRequested"]
    assert set(names(world.after(99))) == {"DeliveryRequested"}
    assert names(world.after(1)) == ["JobFailed"]


# ---- redeliver ----


def test_a_redelivery_is_a_new_generation_and_its_ack_opens_the_gate() -> None:
    world = waiting()
    give_up(world)
    [again] = world.when(redeliver(2))
    assert isinstance(again, DeliveryRequested)
    assert (again.generation, again.try_number, again.gating) == (2, 1, True)
    assert world.sent.deliveries[-1].generation == 2
    assert world.settle(ack(destination=HOOK)) == []  # of the generation before
    assert "JobCompleted" in names(world.settle(ack(destination=HOOK, generation=2)))


def test_asking_twice_for_a_generation_makes_it_once() -> None:
    world = waiting()
    give_up(world)
    world.when(redeliver(2))
    assert world.when(redeliver(2)) == []
    assert world.reply == Done()


def test_a_delivery_that_a_writer_has_is_not_made_again_beside_it() -> None:
    world = waiting()
    assert world.when(redeliver(2)) == []
    assert isinstance(world.reply, Refused)
    assert world.reply.code == "delivery_under_way"


def test_what_an_earlier_generation_opened_stays_open() -> None:
    world = waiting()  # Postgres has acknowledged, the webhook not
    world.when(redeliver(2, "internal-postgres"))
    events = world.settle(ack(destination=HOOK))
    assert "JobCompleted" in names(events)
    assert opened_by(events) == {
        next(r.header.event_id for r in world.seen if r.header.event_type == "DeliveryAcked"),
        id_of(world, type(events[0]), HOOK),
    }


def test_a_completed_job_is_redelivered_and_looked_after_until_that_is_settled() -> None:
    world = World(Policy(ended_kept=0, ended_kept_for=0, spread_percent=0)).extracted()
    world.settle(ack())
    assert names(world.when(redeliver(2, "internal-postgres"))) == ["DeliveryRequested"]
    world.archive()
    assert names(world.after(31)) == ["DeliveryRequested"]
    assert world.status() is Status.COMPLETED
    assert names(world.settle(ack(generation=2, try_number=2))) == ["DeliveryAcked"]
    world.archive()
    assert "j1" not in world.ledger.jobs
    redelivered = world.when(redeliver(3, "internal-postgres"))
    assert names(redelivered) == ["JobRecalled", "DeliveryRequested"]
    assert world.job().deliveries[0].generation == 3


# ---- waive ----


def test_a_waiver_opens_the_gate_and_stops_the_tries() -> None:
    world = waiting(policy=Policy())
    give_up(world)
    assert names(world.when(waive())) == ["DeliveryWaived", "JobCompleted", "DeliveryRequested"]
    world.settle(ack(destination="end"))
    assert world.when(waive()) == []
    assert world.reply == Done()
    assert world.after(100 * 3600) == []


@pytest.mark.parametrize("generation", [0, 1, 3])
def test_a_copy_that_lands_late_waives_no_other_generation_than_the_one_it_was_sent_for(generation: int) -> None:
    world = waiting()
    world.when(waive())
    world.when(redeliver(2))
    assert world.when(waive(generation=generation)) == []
    assert isinstance(world.reply, Refused)
    assert world.reply.code == "bad_generation"
    assert world.job().delivery(HOOK).state is DeliveryState.REQUESTED  # type: ignore[union-attr]
    assert names(world.when(waive(generation=2))) == ["DeliveryWaived"]


def test_what_was_redelivered_since_is_not_waived_and_holds_its_job() -> None:
    world = waiting()
    give_up(world)
    world.when(redeliver(2))
    assert world.when(waive()) == []
    assert world.status() is Status.EXTRACTION_DONE
    assert "JobCompleted" in names(world.settle(ack(destination=HOOK, generation=2)))


def test_an_ack_after_a_waiver_is_recorded_and_the_waiver_stays_what_opened_the_gate() -> None:
    world = World(NO_TRIES).extracted(destinations=(POSTGRES, hook()))
    world.when(waive())
    assert names(world.settle(ack(destination=HOOK))) == ["DeliveryAcked"]
    events = world.settle(ack())
    assert opened_by(events) == {
        id_of(world, DeliveryWaived, HOOK),
        id_of(world, type(events[0]), "internal-postgres"),
    }


def test_a_failed_answer_after_a_waiver_changes_nothing() -> None:
    world = waiting()
    world.when(waive())
    assert give_up(world) == []


def test_commands_about_deliveries_are_refused_with_their_reason() -> None:
    world = World().org()
    assert world.when(waive()) == []
    assert world.reply == Refused(code="unknown_job")
    world.submit(destinations=(POSTGRES, hook()))
    codes = []
    for command in (waive("nowhere"), redeliver(2, "nowhere"), waive(), redeliver(2)):
        assert world.when(command) == []
        assert isinstance(world.reply, Refused)
        codes.append(world.reply.code)
    assert codes == ["unknown_destination", "unknown_destination", "not_deliverable", "not_deliverable"]


def test_a_job_that_ended_without_its_data_is_neither_redelivered_nor_waived() -> None:
    world = waiting(OnExhausted.FAIL)
    give_up(world)
    for command in (redeliver(2), waive()):
        assert world.when(command) == []
        assert isinstance(world.reply, Refused)
        assert world.reply.code == "not_deliverable"
    assert world.job().delivery(HOOK).state is DeliveryState.DEAD  # type: ignore[union-attr]
