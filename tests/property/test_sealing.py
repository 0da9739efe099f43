"""Sealed events fold to the rows of the same events in clear, and without their keys to rows that say nothing."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from projections.postgres.fold import Changes, Current, fold, sealed_jobs
from projections.postgres.rows import Job
from projections.private import Open, in_clear, opener
from projections.verification.compare import TABLES_OF_JOBS
from schemas.recorded import Recorded
from services.runtime.shredding.codec import JobKey, sealed, unsealed
from services.runtime.shredding.vault import new_job_key
from tests.event_streams import Stream

PLAYS = st.lists(st.integers(0, 1599), min_size=5, max_size=60)


def sealed_events(events: Sequence[Recorded], keys: dict[JobKey, bytes]) -> list[Recorded]:
    """The same events of an org with erasure."""
    closed = []
    for recorded in events:
        event, job = recorded.event, (recorded.event.org_id, recorded.event.job_id)
        private = sealed(event.private, keys.setdefault(job, new_job_key()), job)
        closed.append(replace(recorded, event=replace(event, private=private)))
    return closed


def rows(changes: Changes) -> list[object]:
    """Everything that is written, but for the bytes that are kept as they stand in the log."""
    jobs = [replace(job, private=b"") if isinstance(job, Job) else job for job in changes.jobs.values()]
    said = [changes.lines, changes.stats]
    return [jobs, changes.transitions, changes.visits, changes.deliveries, changes.deleted, changes.erased, *said]


def wanted(events: Sequence[Recorded], opened: Open) -> list[object]:
    """The rows that verification asks for, but for the same bytes."""
    jobs: dict[JobKey, list[Recorded]] = {}
    for recorded in events:
        if recorded.event.job_id:
            jobs.setdefault((recorded.event.org_id, recorded.event.job_id), []).append(recorded)
    found: list[object] = []
    for _, rows_of in TABLES_OF_JOBS.values():
        for of_job in jobs.values():
            found += [{**row, "private": b""} for row in rows_of(of_job, opened).values()]
    return found


@given(PLAYS)
def test_with_keys_sealed_events_say_what_they_said_in_clear(numbers: list[int]) -> None:
    stream, keys = Stream(modules=True).open().play(numbers), dict[JobKey, bytes]()
    closed = sealed_events(stream.events, keys)
    assert rows(fold(Current(), closed, opener(keys))) == rows(fold(Current(), stream.events))
    assert wanted(closed, opener(keys)) == wanted(stream.events, in_clear)
    assert sealed_jobs(closed) <= keys.keys()


@given(PLAYS)
def test_without_keys_they_fold_all_the_same_and_say_nothing_of_people(numbers: list[int]) -> None:
    stream = Stream(modules=True).open().play(numbers)
    silent = [replace(each, event=replace(each.event, private=b"")) for each in stream.events]
    closed = sealed_events(stream.events, {})
    assert rows(fold(Current(), closed)) == rows(fold(Current(), silent))
    assert wanted(closed, in_clear) == wanted(silent, in_clear)


@given(st.binary(min_size=1), st.text(), st.text())
def test_anything_that_is_sealed_opens_to_itself(private: bytes, org_id: str, job_id: str) -> None:
    key, job = new_job_key(), (org_id, job_id)
    assert unsealed(sealed(b"\0" + private, key, job), key, job) == b"\0" + private
