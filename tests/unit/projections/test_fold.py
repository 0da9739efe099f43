"""The fold of a batch onto its rows."""

from uuid import UUID

import pytest

from projections.postgres.fold import Changes, Current, FoldError, MissingJob, SkippedSeq, fold, job_keys
from projections.postgres.rows import Delivery, Job, JobState, instant
from projections.private import opened
from schemas.events import DeliveryAcked, DeliveryRequested, JobCompleted, JobEvent, JobSubmitted
from schemas.values import Destination
from tests.event_streams import DESTINATIONS, START, STEP, Play, Stream


def folded(stream: Stream) -> Changes:
    return fold(Current(), stream.events)


def row_of(stream: Stream, job: Play) -> JobState:
    return folded(stream).jobs[(job.org_id, job.job_id)]


def running(stream: Stream, destinations: tuple[Destination, ...] = DESTINATIONS) -> Play:
    job = stream.submit(0, destinations)
    stream.dispatch(job)
    stream.claim(job)
    return job


def test_a_submitted_job_is_pending_with_everything_that_was_said() -> None:
    stream = Stream().open()
    job = stream.submit(2)
    row = row_of(stream, job)
    assert isinstance(row, Job)
    assert (row.status, row.seq, row.attempt, row.url) == ("pending", 1, 0, "https://shop.example/2")
    assert (row.input, row.metadata) == ({"n": 2}, {"tag": "a�b"})
    assert [destination["destination_id"] for destination in row.destinations] == ["internal", "hook", "lake"]
    assert row.submitted_at == instant(START + STEP * row.position)


def test_times_are_exact_to_the_microsecond_up_to_the_last_year() -> None:
    assert instant(START).microsecond == 1
    assert instant(10**20).year == 9999


def test_a_claimed_job_names_its_worker_and_a_released_one_does_not() -> None:
    stream = Stream().open()
    job = running(stream)
    first_claim = row_of(stream, job).claimed_at
    assert (row_of(stream, job).status, row_of(stream, job).worker_id) == ("running", "w1")
    stream.advance(job, 8)
    assert (row_of(stream, job).status, row_of(stream, job).worker_id) == ("pending", None)
    stream.dispatch(job)
    stream.claim(job)
    assert (row_of(stream, job).attempt, row_of(stream, job).claimed_at) == (2, first_claim)


def test_a_date_is_there_only_while_the_job_waits_for_it() -> None:
    stream = Stream().open()
    job = running(stream)
    stream.advance(job, 7)
    assert row_of(stream, job).retry_at == instant(START)
    stream.advance(job, 7)  # somebody hurries it
    assert (row_of(stream, job).status, row_of(stream, job).retry_at) == ("waiting_retry", instant(START + STEP))
    stream.dispatch(job)
    assert row_of(stream, job).status == "waiting_retry"
    stream.claim(job)
    assert row_of(stream, job).retry_at is None


def test_the_job_is_completed_by_its_last_gating_ack_and_names_both() -> None:
    stream = Stream().open()
    job = running(stream)
    stream.extract(job)
    stream.ack(job, "hook")
    assert row_of(stream, job).status == "extraction_done"
    stream.ack(job, "internal")
    row = row_of(stream, job)
    assert (row.status, row.finished_seq) == ("completed", row.seq)
    acks = [each.header.event_id for each in stream.events if isinstance(each.event, DeliveryAcked)]
    assert row.opened_by is not None
    assert set(row.opened_by) == {UUID(bytes=event_id) for event_id in acks}


def test_a_failed_job_says_why() -> None:
    stream = Stream().open()
    job = running(stream)
    stream.end_early(job, 0)
    row = row_of(stream, job)
    assert (row.status, row.error_type, row.node_id) == ("failed", "providers_exhausted", "node-1")
    assert row.error_message == "all providers failed"


def test_what_is_said_after_an_ack_takes_nothing_back() -> None:
    stream = Stream().open()
    job = running(stream)
    stream.extract(job)
    stream.ack(job, "internal")
    stream.of(job, DeliveryRequested(destination_id="internal", kind="postgres", try_number=2))
    delivery: Delivery = folded(stream).deliveries[(job.org_id, job.job_id, "internal", 1)]
    assert (delivery.status, delivery.tries, delivery.seq) == ("acked", 1, job.seq)


def test_every_event_of_a_job_is_a_transition_with_the_status_after_it() -> None:
    stream = Stream().open()
    job = running(stream)
    stream.visit(job)
    stream.extract(job)
    transitions = folded(stream).transitions
    assert [each.seq for each in transitions] == list(range(1, job.seq + 1))
    assert [each.status for each in transitions[:5]] == ["pending", "pending", "running", "running", "extraction_done"]


def test_events_that_a_row_has_seen_change_nothing() -> None:
    stream = Stream().open()
    running(stream)
    first = folded(stream)
    again = fold(Current(first.jobs, first.deliveries, usage=first.usage), stream.events)
    assert again == Changes()


def test_the_rows_that_a_fold_starts_from_are_left_as_they_were() -> None:
    stream = Stream().open()
    job = stream.submit()
    before = folded(stream)
    stream.dispatch(job)
    fold(Current(before.jobs), stream.events)
    assert before.jobs[(job.org_id, job.job_id)].dispatches == 0


def test_an_event_of_a_job_without_a_row_stops_the_fold() -> None:
    stream = Stream().open()
    running(stream)
    with pytest.raises(MissingJob, match="JobClaimed 3 of job"):
        fold(Current(), stream.events[-1:])


def test_an_event_that_does_not_follow_stops_the_fold() -> None:
    stream = Stream().open()
    running(stream)
    later = [stream.events[3], stream.events[5]]
    with pytest.raises(SkippedSeq, match="whose row is at 1"):
        fold(Current(), later)
    assert issubclass(SkippedSeq, FoldError)


def test_a_batch_names_the_jobs_it_is_about() -> None:
    stream = Stream().open()
    job = running(stream)
    assert job_keys(stream.events) == {(job.org_id, job.job_id)}
    assert not any(isinstance(each.event, JobEvent) for each in stream.events[:3])


def test_closed_or_broken_private_bytes_open_to_nothing() -> None:
    deep = b"\0" + b"[" * 100_000
    for private in (b"", b"\0", b"\1{}", b"\0[1]", b"\0{", b'\0{"url":"\\ud800"}', deep):
        assert opened(private) == {}


def test_completing_without_gating_destinations_names_no_ack() -> None:
    stream = Stream().open()
    job = running(stream, destinations=())
    stream.extract(job)
    assert row_of(stream, job).opened_by == []
    assert isinstance(stream.events[-1].event, JobCompleted)
    assert isinstance(stream.events[3].event, JobSubmitted)
