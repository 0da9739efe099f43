"""The archive of a decider: what the read model has of a partition, as one fold of the log up to its checkpoint."""

import asyncio

from projections.postgres.rows import Checkpoint
from schemas.codec import Decoder
from schemas.events import JobsArchived
from services.decider.archive import ArchiveAway
from services.ledger.apply import apply
from services.ledger.job import Job
from services.ledger.policy import Policy
from services.ledger.record import digest_of
from services.ledger.state import Ledger
from tests.simulation import fibers
from tests.simulation.broker import Partition
from tests.simulation.chaos import Chaos
from tests.simulation.read_model import ReadModel


class Archive:
    """Stands for `services.decider.postgres_archive.PostgresArchive`."""

    def __init__(self, model: ReadModel, log: dict[int, Partition], decoder: Decoder, chaos: Chaos) -> None:
        self.model, self.log, self.decoder, self.chaos = model, log, decoder, chaos
        self._folds = {partition: (Ledger(partition, Policy()), 0) for partition in log}  # and where they go on

    def of(self, partition: int) -> "PartitionArchive":
        """Return the archive of one partition."""
        return PartitionArchive(self, partition)

    def folded(self, partition: int, position: int) -> Ledger:
        """Fold a partition up to a position, letting nothing leave."""
        ledger, at = self._folds[partition]
        log = self.log[partition]
        while at < log.stable_end:
            entry = log.entries[at]
            ours = entry.readable and entry.value and entry.headers  # without headers: a stranger's record
            recorded = self.decoder.decode(entry.value) if ours else None
            if recorded and recorded.header.position > position:
                break
            if recorded and not isinstance(recorded.event, JobsArchived):
                apply(ledger, recorded, digest_of(entry.value))
            at += 1
        self._folds[partition] = ledger, at
        return ledger

    async def watch(self) -> None:
        """Need not look: positions are at hand."""
        await asyncio.Event().wait()

    def close(self) -> None:
        """Hold nothing."""


class PartitionArchive:
    """The archive of one partition; it is away when Postgres is."""

    def __init__(self, whole: Archive, partition: int) -> None:
        self._whole, self._partition = whole, partition

    def position(self) -> int:
        """Return how far the read model is."""
        return self._whole.model.checkpoints.get(self._partition, Checkpoint(self._partition)).position

    def load(self, org_id: str, job_id: str, position: int) -> Job | None:
        """Fold what the read model has, letting nothing leave."""
        fibers.sleep(self._whole.chaos.latency())
        folded = self.position()
        if folded < position or self._whole.chaos.strikes("archive_away"):
            raise ArchiveAway("simulated")
        job = self._whole.folded(self._partition, folded).jobs.get(job_id)
        return job if job and job.org_id == org_id else None
