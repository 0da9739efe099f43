"""Orgs and workflows that are paused: nothing of theirs goes out, what runs goes on, and places are kept."""

import pytest

from schemas.events import AnyEvent, JobDispatched
from services.ledger import pausing
from services.ledger.apply import apply
from services.ledger.commands import (
    ExplainJob,
)
from services.ledger.replies import Done, Explained, Reason, Refused
from services.ledger.reports import RetryLater
from services.ledger.state import NO_HASH, Ledger
from services.ledger.status import Status
from tests.unit.ledger.pauses import crewed, pause, resume, state_of
from tests.unit.ledger.world import EXTRACTED, World, ack, failed_node, names, node


def dispatched(events: list[AnyEvent]) -> list[str]:
    """Jobs in the order of their dispatch."""
    return [event.job_id for event in events if isinstance(event, JobDispatched)]


def end(world: World, job_id: str) -> list[AnyEvent]:
    """Let a job that is dispatched run and be extracted."""
    world.claim(job_id)
    return world.report(EXTRACTED, node(0), job_id=job_id)


def test_a_paused_org_takes_jobs_and_starts_none_until_it_is_resumed() -> None:
    world = crewed(cap=2)
    assert names(pause(world)) == ["OrgPaused"]
    assert names(world.submit("a", "b", "c")) == ["JobSubmitted"] * 3
    assert names(resume(world)) == ["OrgResumed", "JobDispatched", "JobDispatched"]


def test_pausing_and_resuming_twice_changes_nothing_and_is_not_refused() -> None:
    world = crewed()
    for workflow in ("", "w"):
        assert pause(world, workflow)[0].org_id == "acme"
        paused = state_of(world)
        assert len(pause(world, workflow)) == 1, "it is recorded, so that its copies are known"
        assert isinstance(world.reply, Done)
        assert state_of(world) == paused
        assert len(resume(world, workflow)) == len(resume(world, workflow)) == 1
        assert isinstance(world.reply, Done)
        assert state_of(world) == (False, set())


def test_what_runs_goes_on_to_its_end_while_org_and_workflow_are_paused() -> None:
    world = crewed()
    world.submit("a", "b", workflow_id="w")
    pause(world)
    pause(world, "w")
    assert names(end(world, "a")) == ["NodeFinished", "JobExtracted", "DeliveryRequested"]
    assert names(world.settle(ack("a"))) == ["DeliveryAcked", "JobCompleted"]
    assert world.job("b").dispatch == 0


def test_a_task_that_was_out_before_the_pause_may_be_claimed_and_is_sent_again_if_it_is_not() -> None:
    world = crewed()
    world.submit("a", workflow_id="w")
    pause(world, "w")
    assert dispatched(world.after(31)) == ["a"], "it holds a slot of its org already"
    world.claim("a")
    assert world.status("a") is Status.RUNNING


def test_other_workflows_of_the_org_go_before_a_paused_one() -> None:
    world = crewed()
    world.submit("x1", workflow_id="x")
    world.submit("p1", "p2", workflow_id="p", priority=9)
    world.submit("x2", workflow_id="x")
    pause(world, "p")
    assert dispatched(end(world, "x1")) == ["x2"]
    assert dispatched(end(world, "x2")) == []
    assert dispatched(resume(world, "p")) == ["p1"]


def test_jobs_come_back_to_their_places_whatever_was_paused_in_between() -> None:
    world = crewed()
    world.submit("now", workflow_id="y")
    for number, workflow in enumerate("xyzxyzxyz"):
        world.now += 1000
        world.submit(f"{number}{workflow}", workflow_id=workflow)
    pause(world, "x")
    pause(world, "y")
    assert dispatched(end(world, "now")) == ["2z"]
    resume(world, "y")
    assert dispatched(end(world, "2z")) == ["1y"]
    pause(world, "y")
    resume(world, "x")
    order = []
    last = "1y"
    while True:
        following = dispatched(end(world, last))
        if not following:
            break
        [last] = following
        order.append(last)
        if len(order) == 2:
            resume(world, "y")
    assert order == ["0x", "3x", "4y", "5z", "6x", "7y", "8z"]


def test_a_due_retry_waits_for_the_end_of_the_pause_and_then_goes_first() -> None:
    world = crewed()
    world.submit("a", workflow_id="w")
    world.claim("a")
    world.report(RetryLater(node_id="n0", try_number=2, delay_ms=1000), failed_node(0), job_id="a")
    world.submit("other", workflow_id="v")
    world.submit("b", workflow_id="w", priority=9)
    pause(world, "w")
    assert world.after(60) == [JobDispatched(org_id="acme", job_id="other", kind="workflow", dispatch=2)]
    assert dispatched(end(world, "other")) == []
    assert dispatched(resume(world, "w")) == ["a"]


def test_a_job_that_lost_its_worker_waits_while_its_workflow_is_paused() -> None:
    world = crewed()
    world.submit("a", "b", workflow_id="w")
    world.announce("boot-2", 1)
    world.claim("a", "boot-2")
    pause(world, "w")
    assert names(world.lose("boot-2")) == ["JobReleased", "WorkerLost"]
    assert dispatched(resume(world, "w")) == ["a"]


def test_jobs_that_are_cancelled_while_paused_are_gone_at_the_end_of_the_pause() -> None:
    world = crewed()
    pause(world, "w")
    world.submit("a", "b", workflow_id="w")
    world.cancel("a")
    assert dispatched(resume(world, "w")) == ["b"]


def test_other_orgs_go_on_while_one_is_paused() -> None:
    world = crewed()
    world.org("beta")
    pause(world)
    pause(world, "w", org_id="beta")
    world.submit("a", workflow_id="w")
    assert dispatched(world.submit("b", org_id="beta", workflow_id="v")) == ["b"]
    assert dispatched(world.submit("c", org_id="beta", workflow_id="w")) == []


def test_a_paused_job_says_so() -> None:
    world = crewed()
    pause(world, "w")
    world.submit("a", workflow_id="w")
    for org_paused, reason in ((False, Reason.WORKFLOW_PAUSED), (True, Reason.ORG_PAUSED)):
        if org_paused:
            pause(world)
        world.when(ExplainJob(command_id="e", org_id="acme", job_id="a"))
        assert isinstance(world.reply, Explained)
        assert world.reply.reason is reason


def test_pauses_of_strangers_and_of_too_many_workflows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pausing, "MOST_PAUSED", 2)
    world = crewed()
    assert pause(world, org_id="nobody") == []
    assert isinstance(world.reply, Refused)
    assert world.reply.code == "unknown_org"
    pause(world, "a")
    pause(world, "b")
    assert pause(world, "c") == []
    assert isinstance(world.reply, Refused)
    assert world.reply.code == "too_many_paused"
    assert names(pause(world, "b")) == ["WorkflowPaused"]
    assert isinstance(world.reply, Done), "a repeat is no new one"


def test_org_events_are_numbered_without_gaps() -> None:
    world = crewed()
    pause(world)
    pause(world, "w")
    resume(world, "w")
    resume(world)
    seqs = [each.header.seq for each in world.seen if each.event.org_id and not each.event.job_id]
    assert seqs == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("workflow", ["", "w"])
def test_jobs_that_end_in_a_pause_leave_nothing_behind(workflow: str) -> None:
    world = crewed()
    pause(world, workflow)
    world.submit("stays", workflow_id="w")
    for number in range(300):
        world.submit(f"j{number}", workflow_id="w")
        world.cancel(f"j{number}")
    [queue] = world.ledger.orgs["acme"].queues.values()
    assert (len(queue), queue.entries < 100) == (1, True)
    world.submit("next", workflow_id="w")
    assert dispatched(resume(world, workflow)) == ["stays"]
    assert dispatched(end(world, "stays")) == ["next"]


def test_jobs_that_end_behind_dearer_ones_leave_nothing_behind() -> None:
    world = crewed()
    world.submit("runs", "waits", workflow_id="w", priority=1)
    for number in range(300):
        world.submit(f"j{number}", workflow_id="w")
        world.cancel(f"j{number}")
    [queue] = world.ledger.orgs["acme"].queues.values()
    assert (len(queue), queue.entries < 100) == (1, True)


def test_who_only_folds_keeps_nothing_of_jobs_that_were_dispatched() -> None:
    world = crewed()
    for number in range(300):
        world.submit(f"j{number}")
        world.cancel(f"j{number}")
    folded = Ledger(0)
    for recorded in world.seen:
        apply(folded, recorded, NO_HASH)
    [queue] = folded.orgs["acme"].queues.values()
    assert (len(queue), queue.entries < 100) == (0, True)
