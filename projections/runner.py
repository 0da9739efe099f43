"""Follows the log into a store: read what is there, write it, tell how far it came.

A batch is what the log has when the last one is written, so it grows with the load and waits for nothing.
The store away: everything is opened again from the stored checkpoint, which is right whether or not the last write
took effect. Another process on the same version: this one waits as its standby until the other's session ends.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from services.runtime.health import Progress
from services.runtime.metrics import level, timed
from services.runtime.postgres_faults import reason_of
from services.runtime.raw_log import Checkpoint

log = logging.getLogger(__name__)
POLL_SECONDS = 0.5  # how long an idle log is waited for before the next sign of life
STANDBY_SECONDS = 0.5
BACKOFF_SECONDS = (0.1, 0.2, 0.5, 1.0, 2.0)


class Placed(Protocol):
    """An event with its place in the log; an Entry and a RawEntry are ones."""

    @property
    def partition(self) -> int:
        """Where it lies."""

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint behind it."""


Entry = TypeVar("Entry", bound=Placed)
Read = TypeVar("Read", covariant=True)
Written = TypeVar("Written", contravariant=True)


class Log(Protocol[Read]):
    """What the runner needs of the log; a LedgerLog and a RawLog are ones."""

    def poll(self, max_events: int, timeout_seconds: float) -> Sequence[Read]:
        """Return the next events, [] if there are none in time."""

    def close(self) -> None:
        """Let go of it."""


class Sink(Protocol[Written]):
    """Where events go. Opened, it has its tables; closed, it gives its lock back."""

    def lock(self) -> bool:
        """Try to become the only writer."""

    def checkpoints(self, partitions: range) -> Mapping[int, Checkpoint]:
        """Return where to go on in each partition."""

    def write(self, entries: Sequence[Written]) -> Mapping[int, Checkpoint]:
        """Write what the log gave, nothing included; return the checkpoints that moved."""

    def close(self) -> None:
        """Let go of it."""


@dataclass(slots=True)
class Runner(Generic[Entry]):
    """Projects partitions until it is told to stop. `run` blocks; `stop` may come from any thread."""

    reader: str  # its name in metrics
    open_sink: Callable[[], Sink[Entry]]
    open_log: Callable[[Mapping[int, Checkpoint]], Log[Entry]]
    partitions: range
    progress: Progress
    waits_for: Mapping[type[Exception], str]  # errors that waiting cures, and whose they are
    batch_events: int = 1000
    positions: dict[int, int] = field(default_factory=dict)  # folded so far, by partition
    read: dict[int, Checkpoint] = field(default_factory=dict)  # how far the log was read, folded or not
    heads: dict[int, int] = field(default_factory=dict)  # positions of the log's end, as `projections.lag` saw them
    _stopping: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        """Stop after the batch at hand."""
        self._stopping.set()

    def run(self) -> None:
        """Project until stopped; raise what no waiting cures: a gap in the log, a row that does not fit."""
        failures = 0
        while not self._stopping.is_set():
            folded = dict(self.positions)
            try:
                with closing(self.open_sink()) as sink:
                    if self._lock(sink):
                        self._follow(sink)
            except tuple(self.waits_for) as error:
                failures = 0 if self.positions != folded else failures + 1
                pause = BACKOFF_SECONDS[min(failures, len(BACKOFF_SECONDS) - 1)]
                who = next(name for kind, name in self.waits_for.items() if isinstance(error, kind))
                self.progress.stalled(f"{who}: {reason_of(error)}")
                log.warning("projection waits", extra={"store": who, "reason": reason_of(error), "seconds": pause})
                self._stopping.wait(pause)

    def _lock(self, sink: Sink[Entry]) -> bool:
        while not self._stopping.is_set():
            if sink.lock():
                return True
            self.positions.clear()
            self.read.clear()
            self.progress.beat(role="standby", lag=None, positions={})
            self._stopping.wait(STANDBY_SECONDS)
        return False

    def _follow(self, sink: Sink[Entry]) -> None:
        starts = sink.checkpoints(self.partitions)
        self.read = dict(starts)
        self._show(starts)
        with closing(self.open_log(starts)) as events:
            while not self._stopping.is_set():
                entries = events.poll(self.batch_events, POLL_SECONDS)
                ends = {entry.partition: entry for entry in entries}
                self.read |= {partition: entry.checkpoint for partition, entry in ends.items()}
                started = time.perf_counter()
                moved = sink.write(entries)
                if moved:
                    timed("projection_batch_seconds", time.perf_counter() - started, reader=self.reader)
                self._show(moved)

    def _show(self, moved: Mapping[int, Checkpoint]) -> None:
        for partition, checkpoint in moved.items():
            self.positions[partition] = checkpoint.position
            level("position", checkpoint.position, process=self.reader, partition=str(partition))
        lag = sum(max(0, head - self.positions.get(partition, 0)) for partition, head in dict(self.heads).items())
        self.progress.beat(role="active", lag=lag, positions={str(p): at for p, at in self.positions.items()})
