"""Verification names what breaks the rules of planned items."""

from typing import Any

import msgspec
import pytest

from projections.verification.items import check_items
from projections.verification.log import PartitionLog
from schemas.events import ItemsRecorded, JobContinued, StatsRecorded
from schemas.recorded import Recorded
from tests.event_streams import Play, Stream
from tests.item_streams import PLANNED, work
from tests.spider_streams import crawl, lose_or_release, run_spider


def log_of(stream: Stream) -> PartitionLog:
    log = PartitionLog(0)
    for recorded in stream.events:
        if recorded.event.job_id:
            log.jobs.setdefault((recorded.event.org_id, recorded.event.job_id), []).append(recorded)
    return log


def chain() -> tuple[Stream, Play, Play]:
    """A job that was cancelled, and one that went on from it and is running."""
    stream = Stream().open()
    jobs: list[Play] = []
    for _ in range(2):
        job = stream.resume(jobs[-1]) if jobs else stream.submit(4, module=True)
        stream.dispatch(job)
        stream.claim(job)
        for number in (3, 3, 4):
            work(stream, job, number)
        if not jobs:
            stream.end_early(job, 1)
        jobs.append(job)
    return stream, jobs[0], jobs[1]


def named(stream: Stream) -> set[str]:
    return {fault.field for fault in check_items(log_of(stream))}


def change(stream: Stream, kind: type, at: int, **fields: Any) -> None:
    """Change the event of a kind at such a place among them."""
    places = [place for place, each in enumerate(stream.events) if isinstance(each.event, kind)]
    before = stream.events[places[at]]
    stream.events[places[at]] = Recorded(before.header, msgspec.structs.replace(before.event, **fields))


def test_a_log_as_the_decider_writes_it_has_no_fault() -> None:
    assert named(chain()[0]) == set()
    for seed in range(20):
        assert (
            named(Stream(modules=True).open().play([(n * 7919 + n // 3 + seed * 31) % 1600 for n in range(400)]))
            == set()
        ), seed


@pytest.mark.parametrize(
    ("kind", "at", "fields", "field"),
    [
        (ItemsRecorded, 1, {"first_item": 2}, "items"),
        (ItemsRecorded, 1, {"chunk": 2}, "items"),
        (ItemsRecorded, 1, {"first_row": 99}, "items"),
        (ItemsRecorded, 3, {"next_item": PLANNED + 1}, "items"),
        (ItemsRecorded, 1, {"resume_item": 5}, "next_item"),
        (JobContinued, 0, {"rows": 1}, "rows"),
        (JobContinued, 0, {"errors": 7}, "errors"),
        (JobContinued, 0, {"adopts": ()}, "adopts"),
    ],
)
def test_a_gap_or_a_repeat_is_named(kind: type, at: int, fields: dict[str, Any], field: str) -> None:
    stream = chain()[0]
    change(stream, kind, at, **fields)
    assert field in named(stream)


def test_a_job_that_is_done_with_items_left_is_named() -> None:
    stream, _, job = chain()
    stream.extract(job)
    assert named(stream) == {"outcomes"}


def test_two_resume_item_a_time_are_named_and_one_after_the_other_are_not() -> None:
    stream, first, second = chain()
    stream.resume(first)
    assert named(stream) == {"resumes"}
    stream, first, second = chain()
    stream.end_early(second, 1)
    stream.resume(first)
    assert named(stream) == set()


def test_a_resume_of_a_job_that_runs_is_named() -> None:
    stream, _, second = chain()
    stream.resume(second)
    assert named(stream) == {"source_job_id"}


def test_a_spider_that_is_lost_and_reports_late_has_no_fault() -> None:
    stream = Stream().open()
    lose_or_release(stream, run_spider(stream), 1)
    assert named(stream) == set()


@pytest.mark.parametrize(
    ("kind", "at", "fields", "field"),
    [
        (ItemsRecorded, 1, {"first_item": 3}, "items"),
        (ItemsRecorded, 1, {"chunk": 2}, "items"),
        (ItemsRecorded, 1, {"first_row": 5}, "items"),
        (ItemsRecorded, 0, {"next_item": 5}, "items"),
        (ItemsRecorded, 0, {"rows": 0, "next_item": 0}, "items"),
        (ItemsRecorded, 1, {"errors": 1}, "items"),
        (StatsRecorded, 1, {"attempt": 2}, "run"),
    ],
)
def test_a_gap_or_a_repeat_among_what_a_spider_scraped_is_named(
    kind: type, at: int, fields: dict[str, Any], field: str
) -> None:
    stream = Stream().open()
    run_spider(stream)
    change(stream, kind, at, **fields)
    assert field in named(stream)


def test_a_spider_that_is_run_again_is_named() -> None:
    stream = Stream().open()
    job = run_spider(stream)
    stream.claim(job)
    assert named(stream) == {"run"}
    crawl(stream, job, 2)
    assert named(stream) == {"run"}
