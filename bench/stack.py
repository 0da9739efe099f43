"""A local stack for one bench run: in a directory of its own, started and stopped as `jobledger up` and `down` do."""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from services.localstack.attach import attached_settings, operator_key
from services.localstack.control import down, up
from services.localstack.places import StackDir
from services.localstack.secret_file import secrets_of
from services.localstack.services import SERVICES, Service
from services.localstack.stack import NO_CLICKHOUSE, Stack
from services.localstack.state import ProcessState
from services.localstack.supervisor import prepare_ledger
from services.runtime.settings import Settings, settings_from


@dataclass(frozen=True, slots=True)
class BenchStack:
    """A running stack and what a caller of it needs."""

    broker: str
    processes: dict[str, int]  # pids by the name of the process
    settings: Settings
    base_url: str
    operator_key: str
    endpoints: tuple[str, ...] = ()  # of the processes that export metrics


@contextmanager
def own_stack(slots: int, tell: Callable[[str], None]) -> Iterator[BenchStack]:
    """Start a stack with so many worker slots, lend it, and stop it; its data goes with it."""
    with tempfile.TemporaryDirectory(prefix="jobledger-bench-") as place:
        directory = StackDir(Path(place))
        environ = {**os.environ, "JOBLEDGER_STACK_DIR": place, "JOBLEDGER_WORKER_SLOTS": str(slots)}
        try:
            state = up(directory, environ, lambda state: tell(state.step))
            pids = _pids(state.processes) | {"supervisor": state.supervisor.pid}
            settings, url = attached_settings(environ), _api(state.processes)
            endpoints = _endpoints(state.processes)
            yield BenchStack(state.broker, pids, settings, url, operator_key(environ), endpoints)
        finally:
            down(directory)


@contextmanager
def part_stack(
    slots: int,
    services: Sequence[Service],
    clickhouse: bool,
    tell: Callable[[str], None],
    partitions: int | None = None,
) -> Iterator[BenchStack]:
    """Start a stack of these services only, lend it, and stop it; this process is its supervisor."""
    with tempfile.TemporaryDirectory(prefix="jobledger-bench-") as place:
        environ = {**os.environ, "JOBLEDGER_STACK_DIR": place}
        if not clickhouse:
            environ["JOBLEDGER_CLICKHOUSE"] = NO_CLICKHOUSE
        if partitions:
            environ["JOBLEDGER_PARTITIONS"] = str(partitions)
        directory = StackDir(Path(place))
        stack = Stack(directory, environ, tell)
        try:
            stack.start()
            stack.environ["JOBLEDGER_WORKER_SLOTS"] = str(slots)
            prepare_ledger(stack.environ)
            stack.start_services(services)
            processes = stack.processes()
            key = secrets_of(directory.secrets, environ).operator_key
            settings = settings_from(stack.environ)
            endpoints = _endpoints(processes)
            yield BenchStack(str(stack.broker), _pids(processes), settings, _api(processes), key, endpoints)
        finally:
            stack.stop()


def _pids(processes: Sequence[ProcessState]) -> dict[str, int]:
    return {process.name: process.identity.pid for process in processes if process.identity}


def _endpoints(processes: Sequence[ProcessState]) -> tuple[str, ...]:
    ours = {service.name for service in SERVICES}
    return tuple(process.endpoint for process in processes if process.name in ours)


def _api(processes: Sequence[ProcessState]) -> str:
    """Return where the API answers; empty: it is not among them."""
    return next((process.endpoint for process in processes if process.name == "api"), "")
