"""Folds partitions in memory, and writes a snapshot of each whenever a restore without it would take long."""

import logging
import time
from collections.abc import Mapping, Sequence

from services.ledger.apply import apply
from services.ledger.record import digest_of
from services.ledger.state import Ledger
from services.runtime.beginning import beginning
from services.runtime.errors import LogGap
from services.runtime.ledger_log import Checkpoint, Entry
from services.runtime.metrics import count, timed
from services.runtime.policy import policy_of
from services.runtime.settings import Settings
from services.runtime.snapshots import Snapshots, header_of

log = logging.getLogger(__name__)
READER = "snapshotter"
EVENTS_BETWEEN = 10_000  # at least, from one snapshot of a partition to the next
JOBS_PER_EVENT = 4  # writing this many jobs costs no more than folding an event again


class SnapshotSink:
    """Where the events go: into a state for each partition, which now and then goes to the blob store."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._snapshots = Snapshots(settings)
        self._ledgers: dict[int, Ledger] = {}
        self._saved: dict[int, int] = {}  # position of the newest snapshot

    def lock(self) -> bool:
        """Two at a time do no harm: what they write is the same."""
        return True

    def checkpoints(self, partitions: range) -> Mapping[int, Checkpoint]:
        """Begin each partition with its newest snapshot."""
        starts = {}
        for partition in partitions:
            self._ledgers[partition], starts[partition] = beginning(
                self._settings, partition, policy_of(self._settings)
            )
            self._saved[partition] = starts[partition].position
        return starts

    def write(self, entries: Sequence[Entry]) -> Mapping[int, Checkpoint]:
        """Fold events; write the snapshots that are due then."""
        newest: dict[int, Entry] = {}
        for entry in entries:
            if entry.recorded is None:
                raise LogGap(f"an event of a type unknown to this version, at offset {entry.offset}: upgrade")
            apply(self._ledgers[entry.partition], entry.recorded, digest_of(entry.raw))
            newest[entry.partition] = entry
        for partition, entry in newest.items():
            ledger = self._ledgers[partition]
            if entry.position - self._saved[partition] >= max(EVENTS_BETWEEN, len(ledger.jobs) // JOBS_PER_EVENT):
                self._save(ledger, entry)
        return {partition: entry.checkpoint for partition, entry in newest.items()}

    def close(self) -> None:
        """Forget the state: it is folded again from the newest snapshot."""
        self._ledgers.clear()

    def _save(self, ledger: Ledger, last: Entry) -> None:
        started, partition = time.monotonic(), str(ledger.partition)
        key = self._snapshots.save(ledger, header_of(ledger, last.offset, digest_of(last.raw)))
        self._saved[ledger.partition] = last.position
        seconds = time.monotonic() - started
        timed("snapshot_seconds", seconds, partition=partition)
        count("snapshots_written", partition=partition)
        log.info("snapshot written", extra={"key": key, "jobs": len(ledger.jobs), "seconds": round(seconds, 3)})
