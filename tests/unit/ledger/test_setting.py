"""What sets something of an org takes effect once: a copy that was sent again undoes nothing that came since."""

import pytest

from services.ledger.commands import ChangeOrgLimit, ChangePlan, PauseOrg, PauseWorkflow, ResumeOrg, ResumeWorkflow
from services.ledger.replies import Done
from tests.unit.ledger.pauses import crewed, pause, resume, state_of
from tests.unit.ledger.world import World


@pytest.mark.parametrize("workflow", ["", "w"])
def test_a_pause_that_is_sent_again_and_lands_behind_its_end_pauses_nothing(workflow: str) -> None:
    world = crewed()
    name = {"command_id": "sent twice", "org_id": "acme"}
    sent = PauseWorkflow(**name, workflow_id=workflow) if workflow else PauseOrg(**name)
    assert len(world.when(sent)) == 1
    assert len(resume(world, workflow)) == 1
    assert world.when(sent) == []
    assert isinstance(world.reply, Done)
    assert len(pause(world, workflow)) == 1  # who pauses again does so by another command


@pytest.mark.parametrize("workflow", ["", "w"])
def test_a_pause_that_came_while_another_one_held_pauses_nothing_when_it_comes_again(workflow: str) -> None:
    world = crewed()
    pause(world, workflow)
    name = {"command_id": "sent twice", "org_id": "acme"}
    sent = PauseWorkflow(**name, workflow_id=workflow) if workflow else PauseOrg(**name)
    world.when(sent)
    resume(world, workflow)
    assert world.when(sent) == []
    assert state_of(world) == (False, set())


@pytest.mark.parametrize("workflow", ["", "w"])
def test_the_end_of_no_pause_ends_none_when_it_comes_again(workflow: str) -> None:
    world = crewed()
    name = {"command_id": "sent twice", "org_id": "acme"}
    sent = ResumeWorkflow(**name, workflow_id=workflow) if workflow else ResumeOrg(**name)
    world.when(sent)
    pause(world, workflow)
    assert world.when(sent) == []
    assert state_of(world) == (not workflow, {workflow} - {""})


def test_a_limit_and_a_plan_that_were_in_effect_already_undo_nothing_when_they_come_again() -> None:
    world = World().org(cap=2, plan="bi")
    same = (
        ChangeOrgLimit(command_id="a", org_id="acme", max_in_flight=2),
        ChangePlan(command_id="b", org_id="acme", plan="bi"),
    )
    later = (
        ChangeOrgLimit(command_id="c", org_id="acme", max_in_flight=3),
        ChangePlan(command_id="d", org_id="acme", plan="prepaid"),
    )
    for command in (*same, *later):
        assert len(world.when(command)) == 1
    for command in same:
        assert world.when(command) == []
    org = world.ledger.orgs["acme"]
    assert (org.max_in_flight, org.account.plan, org.account.metered) == (3, "prepaid", True)


def test_a_limit_that_is_sent_again_takes_no_later_one_back() -> None:
    world = World().org(cap=1)
    first, later = (
        ChangeOrgLimit(command_id=name, org_id="acme", max_in_flight=cap) for name, cap in (("a", 2), ("b", 3))
    )
    assert len(world.when(first)) == len(world.when(later)) == 1
    assert world.when(first) == []
    assert world.ledger.orgs["acme"].max_in_flight == 3


def test_a_plan_that_is_sent_again_takes_no_later_one_back() -> None:
    world = World().org()
    first, later = (ChangePlan(command_id=plan, org_id="acme", plan=plan) for plan in ("prepaid", "bi"))
    assert len(world.when(first)) == len(world.when(later)) == 1
    assert world.when(first) == []
    assert world.ledger.orgs["acme"].account.plan == "bi"
