"""Follows the log into Postgres: read what is there, fold, write, tell how far it came.

A batch is what the log has when the last one is committed, so it grows with the load and waits for nothing.
Postgres away: everything is opened again from the stored checkpoint, which is right whether or not the last commit
took effect. Another process on the same version: this one waits as its standby until the other's session ends.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Protocol

import psycopg

from projections.migrate import SCHEMA, migrate
from projections.postgres.batch import Batch, batch_of
from projections.postgres.rows import Checkpoint
from projections.postgres.store import CheckpointMoved, Store
from services.runtime.health import Progress
from services.runtime.ledger_log import Checkpoint as LogCheckpoint
from services.runtime.ledger_log import Entry
from services.runtime.metrics import count, level, timed

log = logging.getLogger(__name__)
READER = "postgres"
BATCH_EVENTS = 1000
POLL_SECONDS = 0.5  # how long an idle log is waited for before the next sign of life
STANDBY_SECONDS = 0.5
BACKOFF_SECONDS = (0.1, 0.2, 0.5, 1.0, 2.0)


class Log(Protocol):
    """What the runner needs of a LedgerLog."""

    def poll(self, max_events: int, timeout_seconds: float) -> list[Entry]:
        """Return the next events, [] if there are none in time."""

    def close(self) -> None:
        """Let go of it."""


OpenLog = Callable[[Mapping[int, LogCheckpoint]], Log]


@dataclass(slots=True)
class Runner:
    """Projects partitions into Postgres until it is told to stop. `run` blocks; `stop` may come from any thread."""

    dsn: str
    partitions: range
    open_log: OpenLog
    progress: Progress
    positions: dict[int, int] = field(default_factory=dict)  # folded so far, by partition
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
                migrate(self.dsn)
                with closing(Store(self.dsn, SCHEMA)) as store:
                    if self._lock(store):
                        self._follow(store)
            except (psycopg.OperationalError, CheckpointMoved) as error:
                failures = 0 if self.positions != folded else failures + 1
                pause = BACKOFF_SECONDS[min(failures, len(BACKOFF_SECONDS) - 1)]
                self.progress.stalled(f"Postgres: {error}".strip())
                log.warning("projection waits for Postgres", extra={"reason": str(error), "seconds": pause})
                self._stopping.wait(pause)

    def _lock(self, store: Store) -> bool:
        while not self._stopping.is_set():
            if store.lock():
                return True
            self.progress.beat(role="standby")
            self._stopping.wait(STANDBY_SECONDS)
        return False

    def _follow(self, store: Store) -> None:
        checkpoints = store.checkpoints(self.partitions)
        starts = {partition: LogCheckpoint(at.position, at.next_offset) for partition, at in checkpoints.items()}
        self._show(checkpoints)
        with closing(self.open_log(starts)) as events:
            while not self._stopping.is_set():
                batch = batch_of(checkpoints, events.poll(BATCH_EVENTS, POLL_SECONDS))
                started = time.perf_counter()
                store.write(batch)
                checkpoints |= batch.after
                if batch.after:
                    _count(batch, time.perf_counter() - started)
                self._show(batch.after)

    def _show(self, moved: Mapping[int, Checkpoint]) -> None:
        for partition, checkpoint in moved.items():
            self.positions[partition] = checkpoint.position
            level("position", checkpoint.position, process=READER, partition=str(partition))
        lag = sum(max(0, head - self.positions.get(partition, 0)) for partition, head in dict(self.heads).items())
        self.progress.beat(role="active", lag=lag, positions={str(p): at for p, at in self.positions.items()})


def _count(batch: Batch, seconds: float) -> None:
    timed("projection_batch_seconds", seconds, reader=READER)
    for event_type, number in Counter(recorded.header.event_type for recorded in batch.events).items():
        count("events_folded", number, reader=READER, event_type=event_type)
