"""A local stack for one bench run: in a directory of its own, started and stopped as `jobledger up` and `down` do."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from services.localstack.attach import attached_settings, operator_key
from services.localstack.control import down, up
from services.localstack.places import StackDir
from services.localstack.state import StackState
from services.runtime.settings import Settings


@dataclass(frozen=True, slots=True)
class BenchStack:
    """A running stack and what a caller of it needs."""

    state: StackState
    settings: Settings
    base_url: str
    operator_key: str

    @property
    def processes(self) -> dict[str, int]:
        """Pids by the name of the process."""
        named = {process.name: process.identity.pid for process in self.state.processes if process.identity}
        return {**named, "supervisor": self.state.supervisor.pid}


@contextmanager
def own_stack(slots: int, tell: Callable[[str], None]) -> Iterator[BenchStack]:
    """Start a stack with so many worker slots, lend it, and stop it; its data goes with it."""
    with tempfile.TemporaryDirectory(prefix="jobledger-bench-") as place:
        directory = StackDir(Path(place))
        environ = {**os.environ, "JOBLEDGER_STACK_DIR": place, "JOBLEDGER_WORKER_SLOTS": str(slots)}
        try:
            state = up(directory, environ, lambda state: tell(state.step))
            api = state.process("api")
            assert api is not None, "a stack that is ready has an API"
            yield BenchStack(state, attached_settings(environ), api.endpoint, operator_key(environ))
        finally:
            down(directory)
