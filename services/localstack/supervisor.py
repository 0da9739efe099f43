"""The process that owns a local stack: starts it, starts again what dies, stops it in reverse order."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType

import msgspec

from services.localstack.errors import StackBusy, StackFault, StartFailed
from services.localstack.identity import identity_of
from services.localstack.places import StackDir
from services.localstack.services import MIGRATIONS, Service
from services.localstack.stack import FreshStartNeeded, Stack
from services.localstack.state import Phase, StackState, write_state
from services.runtime.settings import settings_from

TEND_SECONDS = 0.25
ROTATE_SECONDS = 30.0
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class StopAsked(BaseException):
    """A signal asked this process to stop; a BaseException so that nothing takes it for a fault."""


def prepare_ledger(environ: Mapping[str, str]) -> None:
    """Create the topics and apply every package's migrations, for the settings of a started stack."""
    from services.runtime.admin import ensure_topics

    ensure_topics(settings_from(environ))
    _migrate({**os.environ, **environ})


def _migrate(environ: Mapping[str, str]) -> None:
    """Run every package's migrations, each in a process of its own: this package may not import theirs."""
    runs = [
        (module, subprocess.Popen((sys.executable, "-P", "-m", module), env=environ, stdin=subprocess.DEVNULL))
        for module in MIGRATIONS
    ]
    failed = [module for module, run in runs if run.wait() != 0]
    if failed:
        raise StartFailed(f"migrations failed: {', '.join(failed)}; the supervisor's log says why")


class Supervisor:
    """Runs one stack until a signal asks it to stop; what it does is in the state file at all times."""

    def __init__(
        self,
        directory: StackDir,
        environ: Mapping[str, str],
        services: Sequence[Service],
        prepare: Callable[[Mapping[str, str]], None] = prepare_ledger,
        tell: Callable[[str], None] = lambda _step: None,
    ) -> None:
        self._directory = directory
        self._environ = environ
        self._services = services
        self._prepare = prepare
        self._tell = tell
        self._stack = Stack(directory, environ, self._step)
        identity = identity_of(os.getpid())
        assert identity is not None  # this process is alive
        self._state = StackState(phase="starting", step="starting", supervisor=identity)

    def run(self) -> None:
        """Run the stack; return after a clean stop, raise StackFault where it could not be started."""
        self._directory.create()
        with only_supervisor(self._directory):
            for number in STOP_SIGNALS:
                signal.signal(number, _ask_to_stop)
            try:
                self._run_until_asked()
            except StopAsked:
                self._stop()
            except StackFault as fault:
                self._stop()
                self._publish(phase="failed", error=str(fault))
                raise

    def _run_until_asked(self) -> None:
        while True:
            try:
                self._start()
                self._tend()
            except FreshStartNeeded as reason:
                self._state = msgspec.structs.replace(self._state, fresh_starts=self._state.fresh_starts + 1)
                self._publish(phase="starting")
                self._step(f"{reason}, and {self._stack.broker} cannot continue: everything starts from nothing")
                self._stack.stop()

    def _start(self) -> None:
        self._publish(phase="starting")
        self._stack.start()
        self._step("creating topics, applying migrations")
        self._prepare(self._stack.environ)
        self._stack.start_services(self._services)
        self._publish(phase="ready")
        self._step("ready")

    def _tend(self) -> None:
        rotated = time.monotonic()
        while True:
            time.sleep(TEND_SECONDS)
            if self._stack.tend():
                self._publish()
            if time.monotonic() - rotated > ROTATE_SECONDS:
                self._stack.rotate_logs()
                rotated = time.monotonic()

    def _stop(self) -> None:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        self._publish(phase="stopping")
        self._stack.stop()
        self._directory.state.unlink(missing_ok=True)

    def _step(self, step: str) -> None:
        self._tell(step)
        self._publish(step=step)

    def _publish(self, phase: Phase | None = None, step: str | None = None, error: str = "") -> None:
        self._state = msgspec.structs.replace(
            self._state,
            phase=phase or self._state.phase,
            step=step or self._state.step,
            error=error,
            broker=str(self._stack.broker or ""),
            ephemeral=self._stack.ephemeral,
            processes=self._stack.processes(),
            environ=self._stack.environ,
        )
        write_state(self._directory.state, self._state)


@contextmanager
def only_supervisor(directory: StackDir) -> Iterator[None]:
    """Hold the directory's lock; StackBusy where another supervisor holds it."""
    with directory.lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StackBusy(f"another supervisor runs the stack in {directory.root}: see `jobledger status`") from None
        yield


def _ask_to_stop(_number: int, _frame: FrameType | None) -> None:
    raise StopAsked
