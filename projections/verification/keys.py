"""Whether the keys of jobs are there exactly as long as their jobs: none of a deleted job, one of every other."""

from collections.abc import Collection, Iterator, Mapping
from typing import Protocol

from projections.postgres.rows import JobKey
from projections.verification.expected import is_deleted
from projections.verification.faults import Fault
from projections.verification.log import PartitionLog
from services.runtime.shredding.codec import is_sealed

TABLE = "job_keys"


class HavingKeys(Protocol):
    """What is known of keys; a Snapshot is one."""

    def having_keys(self, jobs: Collection[JobKey]) -> set[JobKey]:
        """Return those of these jobs that have a key, whether or not it can be opened."""


def sealed_in(log: PartitionLog) -> set[JobKey]:
    """Return the jobs of which the log says something that takes a key to read."""
    return {key for key, events in log.jobs.items() if any(is_sealed(each.event.private) for each in events)}


def check_keys(log: PartitionLog, snapshot: HavingKeys, opened: Mapping[JobKey, bytes]) -> Iterator[Fault]:
    """Yield keys that outlived their jobs, and keys without which what the log says of a job is lost."""
    deleted = {key for key, events in log.jobs.items() if is_deleted(events)}
    for org_id, job_id in sorted(snapshot.having_keys(deleted)):
        yield Fault(TABLE, org_id, job_id, "key", "none: the job was deleted", "one")
    for org_id, job_id in sorted(sealed_in(log) - deleted - opened.keys()):
        yield Fault(TABLE, org_id, job_id, "key", "one that opens what the log says of the job", "none")
