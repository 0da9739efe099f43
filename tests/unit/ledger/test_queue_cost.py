"""What a job costs does not grow with how many wait: counted, so that it holds on any machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from services.ledger.commands import PauseWorkflow, ResumeWorkflow
from services.ledger.policy import SECOND
from tests.unit.ledger.world import EXTRACTED, World, node

CYCLES = 8


def counted(work: Callable[[], object]) -> int:
    """Return how many lines of the ledger and its decider are run."""
    lines = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        if "services" not in frame.f_code.co_filename:
            return None
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


def world_with(pending: int, orgs: int, workflows: int) -> World:
    """So many jobs wait, of so many orgs with so many workflows each; each org may have one in flight."""
    world = World()
    world.announce(slots=4)
    for org in range(orgs):
        world.org(f"o{org}", cap=1)
    for number in range(pending):
        org, workflow = number % orgs, number // orgs % workflows
        world.submit(f"j{number}", org_id=f"o{org}", workflow_id=f"w{workflow}", priority=number % 3)
    return world


def cycles(world: World, name: str) -> None:
    """Submit jobs and run as many to their ends."""
    for number in range(CYCLES):
        world.submit(f"{name}-{number}", org_id="o0", workflow_id="w0")
        task = next(task for task in world.sent.tasks if world.job(task.job_id).task_out)
        world.claim(task.job_id, org_id=task.org_id)
        world.now += SECOND
        world.report(EXTRACTED, node(0), job_id=task.job_id, org_id=task.org_id)


@pytest.mark.parametrize(("orgs", "workflows"), [(1, 1), (2, 20)])
def test_a_job_takes_as_many_steps_whether_few_or_many_wait(orgs: int, workflows: int) -> None:
    few, many = (world_with(pending, orgs, workflows) for pending in (60, 1_200))
    for world in (few, many):
        cycles(world, "first")  # what is done once is done
        world.now += SECOND
    fewest, most = (counted(lambda world=world: cycles(world, "again")) for world in (few, many))  # type: ignore[misc]
    assert most <= 1.2 * fewest


def test_a_pause_and_its_end_take_as_many_steps_whether_few_or_many_wait() -> None:
    def paused(pending: int) -> int:
        world = world_with(pending, 1, 2)
        named = {"command_id": "p", "org_id": "o0", "workflow_id": "w0"}

        def toggle() -> None:
            world.when(PauseWorkflow(**named))
            world.submit("beside", org_id="o0", workflow_id="w1")
            world.when(ResumeWorkflow(**named))

        return counted(toggle)

    assert paused(1_200) <= 1.2 * paused(60)
