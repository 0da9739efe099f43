"""The wait of a deferred retry is ended by a person: once, for a job that waits, and within the cap of its org."""

import pytest

from schemas.events import AnyEvent
from services.ledger.commands import RetryNow
from services.ledger.policy import SECOND
from services.ledger.replies import Done, Refused
from services.ledger.reports import RetryLater
from services.ledger.status import Status
from tests.unit.ledger.world import EXTRACTED, World, failed_node, names, node

LATER = RetryLater(node_id="n0", try_number=2, delay_ms=600_000)


def hurry(world: World, job_id: str = "j1", org_id: str = "acme", attempt: int = 1) -> list[AnyEvent]:
    return world.when(RetryNow(command_id="h", org_id=org_id, job_id=job_id, attempt=attempt))


def waiting(cap: int = 5) -> World:
    world = World().org(cap=cap)
    world.submit()
    world.claim()
    world.report(LATER, failed_node(0))
    assert world.status() is Status.WAITING_RETRY
    return world


def refused(world: World) -> str:
    assert isinstance(world.reply, Refused)
    return world.reply.code


def test_a_waiting_job_is_dispatched_at_once_and_not_again_when_its_time_comes() -> None:
    world = waiting()
    assert names(hurry(world)) == ["RetryBroughtForward"]
    assert isinstance(world.reply, Done)
    assert world.job().run.retry_due_at == world.now
    assert names(world.after(0)) == ["JobDispatched"]
    assert names(world.claim()) == ["JobClaimed"]
    world.report(EXTRACTED, node(1), attempt=2)
    assert "JobDispatched" not in names(world.after(700))


def test_the_same_node_is_tried_with_the_number_that_it_would_have_had() -> None:
    world = waiting()
    before = world.job().resume
    hurry(world)
    world.after(0)
    world.claim()
    assert world.job().resume == before
    assert (before.node_id, before.try_number) == ("n0", 2)


def test_a_repeat_changes_nothing_and_is_accepted_while_the_job_still_waits() -> None:
    world = waiting()
    hurry(world)
    assert hurry(world) == []
    assert isinstance(world.reply, Done)
    world.after(0)
    assert hurry(world) == []  # its task is out, and nobody has claimed it
    assert isinstance(world.reply, Done)


def test_a_hurried_job_waits_for_a_slot_of_its_org_and_goes_ahead_of_pending_ones() -> None:
    world = waiting(cap=1)
    world.submit("j2", "j3")
    hurry(world)
    world.after(0)
    assert world.job().task_out is False  # j2 has the only slot
    world.claim("j2")
    world.report(EXTRACTED, node(0), job_id="j2")
    assert world.job().task_out
    assert not world.job("j3").task_out


def test_a_wait_that_begins_after_a_hurried_one_is_waited_for_in_full() -> None:
    world = waiting()
    hurry(world)
    world.after(0)
    world.claim()
    world.report(LATER, failed_node(1), attempt=2)
    assert world.job().run.retry_due_at == world.now + 600 * SECOND
    assert world.after(599) == []
    assert names(world.after(2)) == ["JobDispatched"]


@pytest.mark.parametrize("attempt", [0, 1])
def test_a_copy_that_lands_late_ends_no_later_wait_than_the_one_it_was_sent_for(attempt: int) -> None:
    world = waiting()
    hurry(world)
    world.after(0)
    world.claim()
    assert hurry(world, attempt=attempt) == []
    world.report(LATER, failed_node(1), attempt=2)
    due_at = world.job().run.retry_due_at
    assert hurry(world, attempt=attempt) == []
    assert refused(world) == "not_waiting"
    assert world.job().run.retry_due_at == due_at
    assert names(hurry(world, attempt=2)) == ["RetryBroughtForward"]


@pytest.mark.parametrize("state", ["pending", "running", "extraction_done", "cancelled", "deleted", "none", "theirs"])
def test_in_every_other_state_it_is_refused_and_nothing_is_recorded(state: str) -> None:
    world = World().org().org("beta")
    if state != "none":
        world.submit()
    if state in ("running", "extraction_done"):
        world.claim()
    if state == "extraction_done":
        world.report(EXTRACTED, node(0))
    if state == "cancelled":
        world.cancel()
    if state == "deleted":
        world.delete()
    assert hurry(world, org_id="beta" if state == "theirs" else "acme") == []
    expected = {"cancelled": "job_terminal", "deleted": "unknown_job", "none": "unknown_job", "theirs": "unknown_job"}
    assert refused(world) == expected.get(state, "not_waiting")
