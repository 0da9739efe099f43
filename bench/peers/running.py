"""One system that runs: its servers, its workers, and a measure of it."""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.peers.figures import Measure
from bench.peers.install import PeerAway
from bench.peers.window import BEGIN, END
from bench.processes import cpu_ms, used
from services.localstack.child import Child, tied_to_parent
from services.localstack.errors import StartFailed
from services.localstack.places import StackDir
from services.localstack.program import Program

ROOT = Path(__file__).parent.parent.parent
PREPARE_SECONDS = 60.0
TAIL_CHARS = 400
STOP_SECONDS = 60.0  # that a driver may take to leave once it has been measured


@dataclass(frozen=True, slots=True)
class Plan:
    """How a system is measured."""

    in_flight: int
    workers: int
    warm_up: float
    seconds: float

    @property
    def each(self) -> int:
        """How many jobs in flight each worker process has."""
        return self.in_flight // self.workers


@dataclass(frozen=True, slots=True)
class Driver:
    """A process that keeps jobs in flight; one that runs them as well counts as the system's."""

    argv: tuple[str, ...]
    in_flight: int
    counts: bool = False
    environ: Mapping[str, str] = field(default_factory=dict)


class Place:
    """A directory in which programs of a peer run; they end with it."""

    def __init__(self, directory: StackDir) -> None:
        self.directory = directory
        self._children: list[Child] = []

    def start(self, *programs: Program) -> None:
        """Start programs and wait until they are ready; PeerAway where one is not."""
        started = [Child(program, self.directory.log(program.name)) for program in programs]
        for child in started:
            child.start()
            self._children.append(child)
        try:
            for child in started:
                child.wait_ready()
        except StartFailed as error:
            raise PeerAway(str(error)) from error

    def pids(self) -> dict[str, int]:
        """Return what runs, by name."""
        return {child.program.name: child.identity.pid for child in self._children if child.identity}

    def stop(self) -> None:
        """Stop everything in reverse order."""
        while self._children:
            self._children.pop().stop()


@contextmanager
def place() -> Iterator[Place]:
    """Lend a place and end what runs in it."""
    with tempfile.TemporaryDirectory(prefix="jobledger-peers-", ignore_cleanup_errors=True) as directory:
        lent = Place(StackDir(Path(directory)))
        lent.directory.create()
        try:
            yield lent
        finally:
            lent.stop()


def measure(where: Place, drivers: Sequence[Driver], plan: Plan) -> Measure:
    """Run the drivers beside each other; what counts is between the last that begins and the last that ends."""
    running = [_start(driver, plan) for driver in drivers]
    try:
        pids = where.pids()
        pids |= {f"worker-{n}": each.pid for n, each in enumerate(running) if drivers[n].counts}
        for each in running:
            _marked(each, BEGIN)
        before = cpu_ms(pids)
        ends = [_marked(each, END) for each in running]
        spent = used(before, cpu_ms(pids))
        for each in running:
            each.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        raise PeerAway(f"its driver did not end within {STOP_SECONDS:g} s of its measure") from None
    finally:
        for each in running:
            each.kill()
            each.wait()
    jobs = sum(end["jobs"] for end in ends)
    if not jobs:
        raise PeerAway(f"no job was done in {plan.seconds:g} s")
    rate = sum(end["jobs"] / end["seconds"] for end in ends)
    return Measure(round(rate, 1), {name: round(cost / jobs, 4) for name, cost in spent.items()})


def run_once(argv: Sequence[str], environ: Mapping[str, str]) -> None:
    """Run what prepares a system; PeerAway where it fails."""
    try:
        answer = subprocess.run(
            argv,
            env={**os.environ, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PREPARE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PeerAway(f"`{' '.join(argv[-2:])}` took longer than {PREPARE_SECONDS:g} s") from None
    if answer.returncode:
        raise PeerAway(f"`{' '.join(argv[-2:])}` failed: {(answer.stdout + answer.stderr)[-TAIL_CHARS:]}")


def _start(driver: Driver, plan: Plan) -> subprocess.Popen[str]:
    asked = ("--warm-up", f"{plan.warm_up}", "--seconds", f"{plan.seconds}", "--in-flight", f"{driver.in_flight}")
    return subprocess.Popen(
        tied_to_parent([*driver.argv, *asked], signal.SIGTERM),
        env={**os.environ, **driver.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )


def _marked(process: subprocess.Popen[str], word: str) -> dict[str, float]:
    """Read a driver's lines up to a mark; PeerAway where it ends before."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("{"):
            found: dict[str, Any] = json.loads(line)
            if found.pop("mark") == word:
                return found
    raise PeerAway(f"its driver ended with code {process.wait()} before it was measured")
