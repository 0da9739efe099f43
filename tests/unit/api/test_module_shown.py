"""What a module job is to its callers, from its events: its state, its counts, and until when there is a file."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from api import folded
from api.errors import Problem
from api.modules.problems import detail_of, refuse_params
from api.modules.shown import job_public
from projections.postgres.views import JobDetail
from services.workers.modules.stats import Count, Stats
from tests.event_streams import Stream
from tests.item_streams import work

STATS = Stats({"lamp": Count(3, 2, 1), "void": Count(2, 0, 2)}, {"berlin": Count(5, 2, 3)})
DAY = 86_400


def detail(*, ended: bool) -> JobDetail:
    """A job that was claimed, and has recorded five items of which two errored."""
    stream = Stream().open()
    job = stream.submit(4, module=True)
    stream.dispatch(job)
    stream.claim(job)
    work(stream, job, 3)
    work(stream, job, 5)
    if ended:
        stream.end_early(job, 1)
    return folded.whole([each for each in stream.events if each.event.job_id == job.job_id])


def test_counts_are_those_of_the_items_and_names_those_of_the_queries() -> None:
    shown = job_public(detail(ended=False), STATS, links=3, kept_seconds=DAY)
    assert (shown.status, shown.grid_points_count, shown.processed_points) == ("running", 1_000, 5)
    assert (shown.results_count, shown.error_count, shown.total_attempts_count) == (3, 2, 3)
    assert (shown.breakdown.by_query, shown.breakdown.by_zone) == ({"lamp": 2, "void": 0}, {"berlin": 2})
    assert shown.dead_queries == ["void"]
    assert (shown.query_stats["lamp"].processed, shown.query_stats["lamp"].errors) == (3, 1)
    assert (shown.expires_at, shown.download_available, shown.output_filename) == (None, False, None)
    assert shown.started_at


@pytest.mark.parametrize("kept_seconds", [DAY, 0, 10**12])
def test_results_go_so_long_after_the_end_unless_they_stay_for_ever(kept_seconds: int) -> None:
    ended = detail(ended=True)
    shown = job_public(ended, STATS, links=1, kept_seconds=kept_seconds)
    assert ended.job.finished_at
    day_after = (ended.job.finished_at + timedelta(days=1)).isoformat(timespec="microseconds")[:-6] + "Z"
    assert shown.expires_at == (day_after if kept_seconds == DAY else None)
    assert shown.download_available
    assert shown.output_filename == f"{shown.job_type}-{shown.id}.json"


def test_a_job_that_was_handed_back_runs_and_one_past_retention_has_expired() -> None:
    running, ended = detail(ended=False), detail(ended=True)
    handed_back = replace(running, job=replace(running.job, status="pending"))
    assert job_public(handed_back, STATS, links=1, kept_seconds=0).status == "running"
    gone = replace(ended, job=replace(ended.job, expired_at=ended.job.finished_at))
    shown = job_public(gone, Stats(), links=1, kept_seconds=DAY)
    assert (shown.status, shown.expires_at, shown.download_available) == ("expired", shown.completed_at, False)


def test_a_job_that_stopped_before_its_first_result_has_no_file() -> None:
    stream = Stream().open()
    job = stream.submit(4, module=True)
    stream.end_early(job, 1)
    shown = job_public(folded.whole([each for each in stream.events if each.event.job_id == job.job_id]), Stats(),
                       links=1, kept_seconds=DAY)  # fmt: skip
    assert (shown.status in ("failed", "cancelled"), shown.download_available) == (True, False)


def test_params_at_fault_are_named_by_their_fields_in_the_shape_of_the_api() -> None:
    refuse_params([])
    with pytest.raises(Problem) as refused:
        refuse_params(["queries[3].name: give each once", "the site is closed"])
    assert detail_of(refused.value) == {
        "detail": {
            "message": "give each once",
            "errors": [
                {"field": "queries[3].name", "message": "give each once"},
                {"field": "body", "message": "the site is closed"},
            ],
        }
    }
    assert detail_of(Problem("not_found", "nothing")) == {"detail": "nothing"}
