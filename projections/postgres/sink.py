"""The projection's hold on Postgres: entries of the log to batches of its store."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from projections.migrate import migrate
from projections.postgres.batch import Batch, batch_of
from projections.postgres.rows import Checkpoint
from projections.postgres.store import CheckpointMoved, Store, VersionReplaced
from projections.runner import Log, Runner
from schemas.recorded import Recorded
from services.runtime import tracing
from services.runtime.errors import KeysAway, RegistryFault, Unsealable
from services.runtime.health import Progress
from services.runtime.ledger_log import Entry
from services.runtime.metrics import count
from services.runtime.postgres_faults import PASSING
from services.runtime.raw_log import Checkpoint as LogCheckpoint
from services.runtime.shredding.vault import Vault

READER = "postgres"
WAITS_FOR: dict[type[Exception], str] = {
    **dict.fromkeys(PASSING, "Postgres"),
    CheckpointMoved: "Postgres",
    VersionReplaced: "the version that a rebuild has made",
    RegistryFault: "the schema registry",
    KeysAway: "JOBLEDGER_CREDENTIALS_KEY",
    Unsealable: "JOBLEDGER_CREDENTIALS_KEY",
}


class PostgresSink:
    """Writes to one version of the read model. `lock` before anything else."""

    def __init__(self, store: Store, reader: str = READER) -> None:
        self._store, self._reader = store, reader
        self._checkpoints: dict[int, Checkpoint] = {}

    def lock(self) -> bool:
        """Try to become the only writer."""
        return self._store.lock()

    def checkpoints(self, partitions: range) -> dict[int, LogCheckpoint]:
        """Return where to go on in each partition."""
        self._checkpoints = self._store.checkpoints(partitions)
        return _places(self._checkpoints)

    def write(self, entries: Sequence[Entry]) -> dict[int, LogCheckpoint]:
        """Fold entries onto the rows; rows and checkpoints change in one transaction."""
        batch, began = batch_of(self._checkpoints, entries), tracing.clock()
        self._store.write(batch)
        if tracing.on():
            _trace(batch, self._reader, began)
        self._checkpoints |= batch.after
        _count(batch, self._reader)
        return _places(batch.after)

    def close(self) -> None:
        """End the session."""
        self._store.close()


class ActiveSink(PostgresSink):
    """Writes to the version that readers follow."""

    def __init__(self, dsn: str, vault: Vault) -> None:
        super().__init__(Store(dsn, migrate(dsn), vault))

    def lock(self) -> bool:
        """Try to become the only writer; VersionReplaced where readers have another version by now."""
        locked = super().lock()
        self._store.check_active()
        return locked


def postgres_runner(
    dsn: str,
    partitions: range,
    open_log: Callable[[Mapping[int, LogCheckpoint]], Log[Entry]],
    vault: Vault,
    progress: Progress,
) -> Runner[Entry]:
    """Return what follows the log into Postgres."""
    return Runner(READER, lambda: ActiveSink(dsn, vault), open_log, partitions, progress, WAITS_FOR)


def _places(checkpoints: Mapping[int, Checkpoint]) -> dict[int, LogCheckpoint]:
    return {partition: LogCheckpoint(at.position, at.next_offset) for partition, at in checkpoints.items()}


def _count(batch: Batch, reader: str) -> None:
    for event_type, number in Counter(recorded.header.event_type for recorded in batch.events).items():
        count("events_folded", number, reader=reader, event_type=event_type)


def _trace(batch: Batch, reader: str, began: int) -> None:
    """Tell of each job whose events were just folded."""
    by_job: dict[str, list[Recorded]] = {}
    for recorded in batch.events:
        if tracing.traced(recorded.event.job_id):
            by_job.setdefault(recorded.event.job_id, []).append(recorded)
    ended = tracing.clock()
    for job_id, its in by_job.items():
        last = its[-1].header
        told: dict[str, tracing.Attribute] = {
            "org_id": its[0].event.org_id,
            "reader": reader,
            "partition": last.partition,
            "events": len(its),
            "last_position": last.position,
        }
        tracing.span(tracing.Span(job_id, "project", f"{reader}/{last.position}", began, ended, told))
