"""Verification of keys: none of a deleted job, one of every other sealed one."""

from collections.abc import Collection

from projections.postgres.rows import JobKey
from projections.verification.keys import check_keys, sealed_in
from projections.verification.log import PartitionLog
from schemas.events import JobCancelled, JobDeleted
from tests.event_streams import Stream
from tests.property.test_sealing import sealed_events


class HasKeys:
    """Stands for a snapshot of Postgres."""

    def __init__(self, keys: Collection[JobKey]) -> None:
        self._keys = keys

    def having_keys(self, jobs: Collection[JobKey]) -> set[JobKey]:
        """Return those of these jobs that have a key."""
        return set(jobs) & set(self._keys)


def told() -> tuple[PartitionLog, JobKey, JobKey, dict[JobKey, bytes]]:
    """A log of a deleted job and another, both of an org with erasure, and the keys of both."""
    stream, keys = Stream().open(), dict[JobKey, bytes]()
    deleted, kept = stream.submit(0), stream.submit(0)
    stream.of(deleted, JobCancelled())
    stream.of(deleted, JobDeleted())
    log = PartitionLog(0)
    for recorded in sealed_events(stream.events, keys):
        if recorded.event.job_id:
            log.jobs.setdefault((recorded.event.org_id, recorded.event.job_id), []).append(recorded)
    return log, (deleted.org_id, deleted.job_id), (kept.org_id, kept.job_id), keys


def test_a_key_that_outlived_its_job_is_named() -> None:
    log, deleted, kept, keys = told()
    [fault] = check_keys(log, HasKeys(keys), keys)
    assert (fault.place, fault.job_id, fault.expected) == ("job_keys", deleted[1], "none: the job was deleted")
    assert list(check_keys(log, HasKeys([kept]), {kept: keys[kept]})) == []


def test_a_sealed_job_without_a_key_that_opens_it_is_named() -> None:
    log, deleted, kept, _ = told()
    assert sealed_in(log) == {deleted, kept}
    [fault] = check_keys(log, HasKeys([kept]), {})
    assert (fault.job_id, fault.found) == (kept[1], "none")
