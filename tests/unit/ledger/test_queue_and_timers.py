"""Fair dispatch, workers, and what is sent again."""

import pytest

from schemas.events import DeliveryFailed, DeliveryRequested, JobDispatched
from services.ledger import timers
from services.ledger.apply import apply
from services.ledger.commands import CancelJob, ChangeOrgLimit
from services.ledger.fairness import next_dispatch
from services.ledger.policy import SECOND, Policy
from services.ledger.record import digest_of
from services.ledger.replies import Drop, Granted, Refused
from services.ledger.reports import HandedBack, RetryLater
from services.ledger.state import Ledger
from services.ledger.status import Status
from services.ledger.timers import Timer
from tests.unit.ledger.world import EXTRACTED, World, ack, failed_node, names, node


def dispatched(world: World) -> list[str]:
    """Jobs in the order of their dispatch."""
    return [r.event.job_id for r in world.seen if isinstance(r.event, JobDispatched)]


def end(world: World, job_id: str, org_id: str = "acme") -> None:
    """Let a worker run a job that is dispatched, for long."""
    world.claim(job_id, org_id=org_id)
    world.now += 60 * SECOND
    world.report(EXTRACTED, node(0), job_id=job_id, org_id=org_id)


def test_orgs_take_turns() -> None:
    world = World().org("acme").org("beta")
    world.announce(slots=2)
    world.submit("a1", "a2", "a3", "a4")
    world.submit("b1", "b2", "b3", org_id="beta")
    assert dispatched(world) == ["a1", "a2"]
    for job_id in ("a1", "a2", "b1", "a3"):
        end(world, job_id, "acme" if job_id.startswith("a") else "beta")
    assert dispatched(world)[2:] == ["b1", "a3", "b2", "a4"]


def test_a_restored_ledger_goes_on_with_the_org_whose_turn_it_is() -> None:
    world = World(Policy(min_window=1)).org("acme").org("beta")
    world.submit("a1", "a2", "a3")
    world.submit("b1", org_id="beta")
    assert dispatched(world) == ["a1"]
    restored = Ledger(0, Policy(min_window=2))
    for stored in world.sent.events:
        apply(restored, stored.recorded, digest_of(stored.stored))
    following = next_dispatch(restored)
    assert following is not None
    assert following.job_id == "b1"


def test_an_org_never_exceeds_its_cap() -> None:
    world = World().org(cap=2)
    world.submit(*(f"j{i}" for i in range(10)))
    assert world.ledger.orgs["acme"].in_flight == 2
    world.claim("j0")
    world.claim("j1")
    assert world.ledger.orgs["acme"].in_flight == 2
    world.report(EXTRACTED, node(0), job_id="j0")
    assert dispatched(world) == ["j0", "j1", "j2"]


def test_a_raised_cap_lets_more_jobs_out_at_once() -> None:
    world = World().org(cap=1)
    world.submit("j0", "j1", "j2")
    assert names(world.when(ChangeOrgLimit(command_id="l", org_id="acme", max_in_flight=3))) == [
        "OrgLimitChanged",
        "JobDispatched",
        "JobDispatched",
    ]


def test_a_lowered_cap_takes_no_slot_back_and_lets_nobody_out_until_there_is_room() -> None:
    world = World().org(cap=3)
    world.announce(slots=8)
    world.submit(*(f"j{number}" for number in range(1, 7)))
    world.claim("j1")
    world.claim("j2")
    assert names(world.when(ChangeOrgLimit(command_id="l", org_id="acme", max_in_flight=1))) == ["OrgLimitChanged"]
    assert names(world.claim("j3")) == ["JobClaimed"], "it was dispatched before"
    assert [names(world.cancel(job_id)) for job_id in ("j1", "j2")] == [["JobCancelled"]] * 2
    assert world.ledger.orgs["acme"].in_flight == 1
    assert names(world.cancel("j3")) == ["JobCancelled", "JobDispatched"]
    raised = names(world.when(ChangeOrgLimit(command_id="m", org_id="acme", max_in_flight=2)))
    assert raised == ["OrgLimitChanged", "JobDispatched"]
    assert [world.job(job_id).task_out for job_id in ("j4", "j5", "j6")] == [True, True, False]


def test_higher_priority_goes_first_within_an_org() -> None:
    world = World().org(cap=1)
    world.submit("j0")
    world.submit("low", priority=-1)
    world.submit("high", priority=9)
    world.claim("j0")
    world.report(EXTRACTED, node(0), job_id="j0")
    assert dispatched(world) == ["j0", "high"]


def test_no_more_tasks_are_out_than_the_fleet_has_free_slots() -> None:
    world = World().org(cap=100)
    world.announce(slots=4)
    world.submit(*(f"j{i}" for i in range(20)))
    assert len(dispatched(world)) == 4
    world.claim("j0")
    assert len(dispatched(world)) == 4
    world.now += 60 * SECOND
    world.report(EXTRACTED, node(0), job_id="j0")
    assert len(dispatched(world)) == 5


def test_where_runs_are_short_tasks_are_out_before_their_slots_are_free() -> None:
    world = World().org(cap=100)
    world.announce(slots=4)
    world.submit(*(f"j{i}" for i in range(20)))
    for number in range(8):
        world.claim(f"j{number}")
        world.now += SECOND // 100
        world.report(EXTRACTED, node(0), job_id=f"j{number}")
    for number in range(8, 12):
        world.claim(f"j{number}")
    assert (world.ledger.running["workflow"], world.ledger.unclaimed["workflow"]) == (4, 4)


def test_a_task_that_nobody_claims_goes_out_again_as_the_same_attempt() -> None:
    world = World().org()
    world.submit()
    [again] = world.after(31)
    assert isinstance(again, JobDispatched)
    assert again.dispatch == 2
    assert world.ledger.orgs["acme"].in_flight == 1
    world.claim()
    assert world.after(31) == []


def test_a_delivery_without_answer_goes_out_again_later_and_later() -> None:
    world = World().extracted()
    [again] = world.after(31)
    assert isinstance(again, DeliveryRequested)
    assert (again.generation, again.try_number) == (1, 2)
    assert world.after(31) == []
    assert names(world.after(31)) == ["DeliveryRequested"]
    assert names(world.settle(ack())) == ["DeliveryAcked", "JobCompleted"]
    assert world.after(3600) == []


def test_a_failed_delivery_is_tried_by_schedule_and_then_given_up_and_held() -> None:
    world = World(Policy(delivery_schedule=(1_000_000, 5_000_000), spread_percent=0)).extracted()
    bad = ack(error_type="connection", rows=0)
    [failed] = world.settle(bad)
    assert isinstance(failed, DeliveryFailed)
    assert world.settle(bad) == []  # the same answer again
    assert names(world.after(1)) == ["DeliveryRequested"]
    world.settle(ack(error_type="connection", try_number=2))
    assert names(world.after(5)) == ["DeliveryRequested"]
    assert names(world.settle(ack(error_type="connection", try_number=3))) == ["DeliveryFailed", "DeliveryDeadLettered"]
    assert world.after(86_400) == []
    assert world.status() is Status.EXTRACTION_DONE
    assert names(world.settle(ack(try_number=3))) == ["DeliveryAcked", "JobCompleted"]  # late, but true


def test_an_error_that_retrying_cannot_cure_is_given_up_at_once() -> None:
    world = World().extracted()
    events = world.settle(ack(error_type="bad_row", retryable=False))
    assert names(events) == ["DeliveryFailed", "DeliveryDeadLettered"]


def test_a_retry_whose_time_has_come_leads_to_one_next_attempt() -> None:
    world = World().org()
    world.submit()
    world.claim()
    world.report(RetryLater(node_id="n0", try_number=2, delay_ms=1000), failed_node(0))
    assert names(world.after(2)) == ["JobDispatched"]
    assert world.after(2) == []
    world.claim()
    assert world.job().attempt == 2
    assert world.job().status is Status.RUNNING


def test_a_worker_that_says_good_bye_owns_nothing_any_more() -> None:
    world = World().org()
    world.announce()
    world.submit()
    world.claim()
    assert names(world.announce(stopping=True)) == ["JobReleased", "WorkerLost", "JobDispatched"]
    assert world.job().run.losses == 0


def test_a_worker_is_told_which_jobs_are_not_its_own() -> None:
    world = World().org()
    world.submit()
    world.claim()
    world.announce("boot-1", 8, "j1", "gone")
    assert world.reply == Drop(job_ids=("gone",))


def test_a_task_is_claimed_once_however_late_a_copy_of_the_claim_lands() -> None:
    world = World().org()
    world.submit()
    assert names(world.after(40)) == ["JobDispatched"]  # nobody claimed it: it is out twice
    assert names(world.claim(dispatch=1))[-1] == "JobClaimed"
    assert world.claim(dispatch=2) == []
    assert isinstance(world.reply, Granted)
    world.report(HandedBack())
    for late in (1, 2):
        assert world.claim(dispatch=late) == []
        assert isinstance(world.reply, Refused)
    assert names(world.claim(dispatch=3)) == ["JobClaimed"]


def test_what_a_living_worker_does_not_name_is_not_taken_from_it() -> None:
    world = World().org()
    world.announce()
    world.submit()
    world.claim()
    world.now += 25_000_000
    assert names(world.announce()) == ["WorkerAlive"]
    assert world.job().status is Status.RUNNING


def test_signs_of_life_in_quick_succession_are_one_event() -> None:
    world = World()
    assert names(world.announce()) == ["WorkerAlive"]
    assert world.announce() == []


def test_the_timer_of_an_earlier_dispatch_does_not_send_a_later_one_again() -> None:
    world = World().org()
    world.submit()
    world.after(20)
    world.claim()
    world.report(RetryLater(node_id="n0", try_number=2, delay_ms=1000), failed_node(0))
    assert names(world.after(2)) == ["JobDispatched"]
    assert world.after(15) == []  # 37 s after the first dispatch, 15 s after the second


def test_a_job_that_comes_back_goes_before_those_that_never_ran() -> None:
    world = World().org(cap=2)
    world.announce()
    world.submit("j0", "j1", "j2", "j3")
    world.claim("j1", "boot-2")
    world.claim("j0")
    assert dispatched(world) == ["j0", "j1"]
    assert names(world.lose("boot-2")) == ["JobReleased", "WorkerLost", "JobDispatched"]
    assert dispatched(world) == ["j0", "j1", "j1"]


def test_a_cancelled_job_gives_its_place_in_the_queue_away() -> None:
    world = World().org(cap=1)
    world.submit("j0", "j1", "j2")
    world.when(CancelJob(command_id="x", org_id="acme", job_id="j1"))
    assert [*world.ledger.orgs["acme"].queues["workflow"].in_order(world.ledger.jobs)] == ["j2"]
    world.claim("j0")
    world.report(EXTRACTED, node(0), job_id="j0")
    assert dispatched(world) == ["j0", "j2"]


def test_waits_that_nobody_takes_out_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that only folds never pops a timer."""
    monkeypatch.setattr(timers, "SWEEP_FROM", 10)
    world = World().org(cap=100)
    world.announce(slots=100)
    for number in range(60):
        world.submit(f"j{number}")
        world.claim(f"j{number}")
    assert len(world.ledger.timers) < 25
    world.submit("waiting")
    assert Timer(world.now + world.policy.dispatch_resend, "dispatch", "waiting", "1") in list(world.ledger.timers)
