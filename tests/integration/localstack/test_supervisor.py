"""A stack comes up, heals, stops and leaves nothing behind, whatever is killed."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from services.localstack.control import down, up
from services.localstack.errors import StartFailed
from services.localstack.identity import Identity, is_alive
from services.localstack.places import StackDir
from services.localstack.stack import Stack
from services.localstack.state import ProcessState, StackState, read_state
from services.localstack.status import look

SUPERVISOR = str(Path(__file__).with_name("fake_supervisor.py"))
DEADLINE_SECONDS = 30.0

Start = Callable[..., StackState]


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[StackDir]:
    directory = StackDir(tmp_path / "stack")
    yield directory
    down(directory)


@pytest.fixture
def start(directory: StackDir, stack: Stack) -> Start:
    """Start fake services on the parts of the shared stack."""

    def start(*services: str) -> StackState:
        return up(directory, stack.environ, lambda _state: None, (SUPERVISOR, *services))

    return start


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "the condition was not met in time"
        time.sleep(0.02)


def now(directory: StackDir) -> StackState:
    state = read_state(directory.state)
    assert state is not None
    return state


def process(state: StackState, name: str) -> ProcessState:
    found = state.process(name)
    assert found is not None
    return found


def everyone(state: StackState) -> list[Identity]:
    return [state.supervisor, *(each.identity for each in state.processes if each.identity)]


def test_up_is_ready_and_down_leaves_nothing_running(directory: StackDir, start: Start) -> None:
    state = start("decider", "api")
    assert [(each.name, each.state, each.lag) for each in look(state)] == [("decider", "ready", 3), ("api", "ready", 3)]
    assert down(directory) == []
    assert not any(map(is_alive, everyone(state)))
    assert read_state(directory.state) is None


def test_up_again_finds_the_running_stack(start: Start) -> None:
    assert everyone(start("api")) == everyone(start("api"))


def test_what_dies_is_started_again_with_the_same_port(directory: StackDir, start: Start) -> None:
    first = process(start("decider", "api"), "decider")
    assert first.identity is not None
    os.kill(first.identity.pid, signal.SIGKILL)
    until(lambda: process(now(directory), "decider").restarts == 1)
    until(lambda: all(each.state == "ready" for each in look(now(directory))))
    again = process(now(directory), "decider")
    assert again.identity != first.identity
    assert again.port == first.port


def test_services_end_when_their_supervisor_is_killed_and_up_starts_again(directory: StackDir, start: Start) -> None:
    state = start("decider", "api")
    os.kill(state.supervisor.pid, signal.SIGKILL)
    until(lambda: not any(map(is_alive, everyone(state))))
    again = start("decider", "api")
    assert [each.state for each in look(again)] == ["ready", "ready"]
    assert [each.port for each in again.processes] == [each.port for each in state.processes]


def test_down_ends_orphans(directory: StackDir, start: Start) -> None:
    state = start("api")
    orphan = process(state, "api").identity
    assert orphan is not None
    os.kill(orphan.pid, signal.SIGSTOP)  # so that it cannot end by itself
    os.kill(state.supervisor.pid, signal.SIGKILL)
    os.kill(orphan.pid, signal.SIGCONT)
    down(directory)
    assert not any(map(is_alive, everyone(state)))


def test_a_service_that_cannot_start_fails_up_with_its_last_words(directory: StackDir, start: Start) -> None:
    with pytest.raises(StartFailed, match=r"workers ended with exit code 1(?s:.*)this is the reason"):
        start("decider", "workers:ill")
    assert read_state(directory.state) is None


@pytest.mark.kafka
def test_every_part_keeps_its_data_and_its_port_over_a_restart(directory: StackDir) -> None:
    environ = {"JOBLEDGER_BROKER": "apache-kafka"}
    first = up(directory, environ, lambda _state: None, (SUPERVISOR,))
    cluster = (directory.kafka / "data" / "meta.properties").read_text()
    with psycopg.connect(first.environ["JOBLEDGER_POSTGRES"]) as connection:
        connection.execute("CREATE TABLE kept ()")
    assert down(directory) == []
    assert not any(map(is_alive, everyone(first)))
    second = up(directory, environ, lambda _state: None, (SUPERVISOR,))
    with psycopg.connect(second.environ["JOBLEDGER_POSTGRES"]) as connection:
        assert connection.execute("SELECT to_regclass('kept')::text").fetchone() == ("kept",)
    assert (directory.kafka / "data" / "meta.properties").read_text() == cluster
    assert second.environ == first.environ


@pytest.mark.kafka
def test_killed_parts_come_back_and_end_with_their_supervisor(directory: StackDir) -> None:
    state = up(directory, {"JOBLEDGER_BROKER": "apache-kafka"}, lambda _state: None, (SUPERVISOR,))
    for each in state.processes:
        assert each.identity is not None
        os.kill(each.identity.pid, signal.SIGKILL)
    until(lambda: all(each.restarts >= 1 for each in now(directory).processes))
    until(lambda: all(each.state == "ready" for each in look(now(directory))))
    with psycopg.connect(state.environ["JOBLEDGER_POSTGRES"]) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    last = now(directory)
    os.kill(last.supervisor.pid, signal.SIGKILL)
    until(lambda: not any(map(is_alive, everyone(last))))


def test_on_tansu_a_dead_decider_starts_everything_from_nothing(directory: StackDir) -> None:
    environ = {"JOBLEDGER_BROKER": "tansu"}
    first = up(directory, environ, lambda _state: None, (SUPERVISOR, "decider"))
    assert first.ephemeral
    with psycopg.connect(first.environ["JOBLEDGER_POSTGRES"]) as connection:
        connection.execute("CREATE TABLE derived ()")
    decider, broker = process(first, "decider").identity, process(first, "broker").identity
    assert decider is not None
    assert broker is not None
    os.kill(decider.pid, signal.SIGKILL)
    until(lambda: not is_alive(broker))
    until(lambda: now(directory).phase == "ready")
    assert now(directory).fresh_starts == 1
    with psycopg.connect(now(directory).environ["JOBLEDGER_POSTGRES"]) as connection:
        assert connection.execute("SELECT to_regclass('derived')").fetchone() == (None,)
