"""Folds the log into a version that is being built, up to exactly the positions that another version has.

Never beyond them: what a fold changes outside of its version has been done by then, so that building need not do it.
"""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from projections.rebuild.faults import LogTooShort, Stopped
from projections.runner import Log, Sink
from services.runtime.metrics import level
from services.runtime.raw_log import Checkpoint

POLL_SECONDS = 0.5
PATIENCE_SECONDS = 60.0  # without an event, although some are missing
TELL_SECONDS = 2.0  # between two lines about progress
Tell = Callable[[str], None]
Positions = Mapping[int, int]


@dataclass(slots=True)
class Progress:
    """How many events are left, told every now and then; `stop` may be set from any thread."""

    read_model: str
    tell: Tell
    stop: threading.Event = field(default_factory=threading.Event)
    _told: float = field(default_factory=time.monotonic)

    def left(self, events: int) -> None:
        """Say how many events are left; raise Stopped where nobody wants them any more."""
        level("rebuild_events_left", events, read_model=self.read_model)
        if time.monotonic() - self._told >= TELL_SECONDS:
            self._told = time.monotonic()
            self.tell(f"{events} events are left")
        if self.stop.is_set():
            raise Stopped("the rebuild was stopped: the next one goes on from here, the version in use is as it was")


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds a version through its sink."""

    sink: Sink[Any]
    open_log: Callable[[Mapping[int, Checkpoint]], Log[Any]]
    partitions: range
    progress: Progress
    batch_events: int

    def positions(self) -> dict[int, int]:
        """Return how far each partition is built."""
        return {partition: at.position for partition, at in self.sink.checkpoints(self.partitions).items()}

    def missing(self, targets: Positions) -> int:
        """Return how many events are missing up to these positions."""
        return sum(max(0, targets.get(partition, 0) - at) for partition, at in self.positions().items())

    def build_up_to(self, targets: Positions) -> None:
        """Fold what is missing up to exactly these positions, or raise LogTooShort."""
        behind = {
            partition: at
            for partition, at in self.sink.checkpoints(self.partitions).items()
            if at.position < targets.get(partition, 0)
        }
        if not behind:
            return
        positions = {partition: at.position for partition, at in behind.items()}
        with closing(self.open_log(behind)) as log:
            self._follow(log, positions, targets)

    def _follow(self, log: Log[Any], positions: dict[int, int], targets: Positions) -> None:
        quiet_since = time.monotonic()
        while left := sum(targets[partition] - at for partition, at in positions.items()):
            self.progress.left(left)
            entries = log.poll(self.batch_events, POLL_SECONDS)
            wanted = [entry for entry in entries if entry.position <= targets[entry.partition]]
            moved = self.sink.write(wanted)
            positions |= {partition: at.position for partition, at in moved.items()}
            if entries or moved:
                quiet_since = time.monotonic()
            elif time.monotonic() - quiet_since > PATIENCE_SECONDS:
                missing = ", ".join(f"{p}:{targets[p]}" for p, at in positions.items() if at < targets[p])
                raise LogTooShort(f"the log gives no event up to {missing}, which the version in use has: is it whole?")
        self.progress.left(0)
