"""What a demo says of the processes of its stack."""

import os
from pathlib import Path

import msgspec
import pytest

from services.cli.demo_processes import LOST, Before, after, before, judged
from services.localstack.identity import identity_of
from services.localstack.state import ProcessState, StackState, write_state
from services.localstack.status import ProcessStatus

OWN = identity_of(os.getpid())
assert OWN
STACK = StackState(phase="ready", step="ready", supervisor=OWN)


def process(name: str, state: str = "ready", restarts: int = 0, reason: str = "") -> ProcessStatus:
    return ProcessStatus(name, state, 1, 60.0, restarts, "http://127.0.0.1:1", reason=reason)


def test_processes_that_are_ready_and_ran_all_the_time_are_fine() -> None:
    found = judged(STACK, [process("api"), process("decider")], Before({}))
    assert found.ok
    assert found.faulty == []


def test_a_process_that_is_not_ready_is_named_with_its_reason() -> None:
    found = judged(STACK, [process("api"), process("writers", "not ready", reason="postgres is down")], Before({}))
    assert not found.ok
    assert [(each.name, each.state, each.reason) for each in found.faulty] == [
        ("writers", "not ready", "postgres is down")
    ]


def test_a_process_that_was_restarted_during_the_run_is_named_though_it_is_ready_again() -> None:
    found = judged(
        STACK, [process("api", restarts=2), process("writers", restarts=5)], Before({"api": 2, "writers": 1})
    )
    assert not found.ok
    assert [(each.name, each.restarts) for each in found.faulty] == [("writers", 4)]


@pytest.mark.parametrize(
    ("stack", "said"),
    [
        (msgspec.structs.replace(STACK, fresh_starts=2), "from nothing"),
        (msgspec.structs.replace(STACK, phase="starting", step="waiting for api"), "starting: waiting for api"),
    ],
)
def test_a_stack_that_started_anew_is_not_fine(stack: StackState, said: str) -> None:
    found = judged(stack, [process("api")], Before({}, fresh_starts=1))
    assert not found.ok
    assert said in found.note


def test_a_stack_that_does_not_run_yet_has_restarted_nothing(tmp_path: Path) -> None:
    assert before(tmp_path / "state.json") == Before({})


def test_what_ran_before_is_noted_from_the_state_file(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    api = ProcessState("api", OWN, 0.0, 3, 1, "http://127.0.0.1:1", "/ready", "api.log")
    write_state(file, msgspec.structs.replace(STACK, processes=(api,), fresh_starts=1))
    assert before(file) == Before({"api": 3}, 1)


def test_a_process_that_died_is_found_down(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    gone = ProcessState("writers", None, 0.0, 1, 1, "http://127.0.0.1:1", "/ready", "writers.log")
    write_state(file, msgspec.structs.replace(STACK, processes=(gone,)))
    found = after(file, Before({}), seconds=0)
    assert [(each.name, each.state, each.restarts) for each in found.faulty] == [("writers", "down", 1)]


def test_a_stack_without_its_supervisor_is_not_fine(tmp_path: Path) -> None:
    found = after(tmp_path / "state.json", Before({}), seconds=0)
    assert not found.ok
    assert found.note == LOST
