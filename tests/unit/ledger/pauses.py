"""Pauses and their ends, each by a call of its own."""

import itertools

from schemas.events import AnyEvent
from services.ledger.commands import PauseOrg, PauseWorkflow, ResumeOrg, ResumeWorkflow
from tests.unit.ledger.world import World

IDS = map(str, itertools.count())  # each call is a command of its own


def pause(world: World, workflow_id: str = "", org_id: str = "acme") -> list[AnyEvent]:
    """Pause an org, or one of its workflows."""
    if workflow_id:
        return world.when(PauseWorkflow(command_id=next(IDS), org_id=org_id, workflow_id=workflow_id))
    return world.when(PauseOrg(command_id=next(IDS), org_id=org_id))


def resume(world: World, workflow_id: str = "", org_id: str = "acme") -> list[AnyEvent]:
    """End a pause."""
    if workflow_id:
        return world.when(ResumeWorkflow(command_id=next(IDS), org_id=org_id, workflow_id=workflow_id))
    return world.when(ResumeOrg(command_id=next(IDS), org_id=org_id))


def state_of(world: World) -> tuple[bool, set[str]]:
    """Whether the org is paused, and which of its workflows are."""
    org = world.ledger.orgs["acme"]
    return org.paused, set(org.paused_workflows)


def crewed(cap: int = 1) -> World:
    """An org with a fleet that takes whatever it may run."""
    world = World().org(cap=cap)
    world.announce(slots=100)
    return world
