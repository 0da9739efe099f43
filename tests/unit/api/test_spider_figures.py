"""The figures of a crawl, out of a dump as Scrapy makes it."""

import msgspec
from msgspec.structs import replace

from api.spiders.figures import Figures, figures_of
from api.spiders.job_answers import CrawlStatistics
from api.spiders.stats_shown import statistics
from projections.postgres.item_reading import Counted
from tests.unit.api.spiders import AT, job, over, progress, running

DUMP = {
    "downloader/request_count": 14,
    "downloader/exception_count": 2,
    "downloader/exception_type_count/twisted.internet.error.TimeoutError": 2,
    "downloader/response_count": 12,
    "downloader/response_status_count/200": 7,
    "downloader/response_status_count/301": 1,
    "downloader/response_status_count/404": 3,
    "downloader/response_status_count/503": 1,
    "scheduler/dequeued": 19,
    "robotstxt/request_count": 1,
    "retry/count": 3,
    "item_scraped_count": 5,
    "su_cloud/routed": 4,
    "finish_reason": "finished",
}


def test_responses_are_told_from_errors_below_http_and_from_what_was_never_fetched() -> None:
    assert figures_of(DUMP) == Figures(ok=8, failed=4, errors=2, into_downloader=14, answered_before_fetch=6, retried=3)


def test_what_the_downloader_itself_took_counts_where_it_was_counted() -> None:
    figures = figures_of({**DUMP, "su_cloud/requests_reached_downloader": 12})
    assert (figures.into_downloader, figures.answered_before_fetch) == (12, 8)


def test_requests_that_pass_by_the_scheduler_make_no_gap_below_zero() -> None:
    assert figures_of({"downloader/request_count": 5, "scheduler/dequeued": 1}).answered_before_fetch == 0
    assert figures_of({}) == Figures(0, 0, 0, 0, 0, 0)


def test_a_running_crawl_is_a_snapshot_with_both_counts_of_items_and_all_that_was_counted() -> None:
    newest = Counted(number=1, position=1, routed=0, scraped=5, final=False, occurred_at=AT, stats=DUMP)
    shown = statistics(running(progress=progress(5, 3)), newest)
    assert (shown.snapshot, shown.items_scraped, shown.items_stored, shown.items_buffered) == (True, 5, 3, 2)
    assert (shown.stats, shown.note) == (DUMP, None)
    assert shown.responses
    assert (shown.responses.ok, shown.responses.failed, shown.errors, shown.retried) == (8, 4, 2, 3)


def test_an_ended_crawl_says_when_its_statistics_are_older_than_its_end() -> None:
    newest = Counted(number=1, position=1, routed=0, scraped=5, final=False, occurred_at=AT, stats=DUMP)
    final, last = replace(newest, final=True), newest
    assert (statistics(over(), final).snapshot, statistics(over(), final).note) == (False, None)
    assert "older than its end" in (statistics(over("failed", error_type="worker_lost"), last).note or "")


def test_where_there_are_none_nothing_is_counted_and_it_is_said_why() -> None:
    shown = statistics(job(), None)
    assert (shown.responses, shown.errors, shown.stats, shown.note) == (None, None, {}, "the job has not started yet")
    assert "no statistics yet" in (statistics(running(), None).note or "")
    assert statistics(over(), None).note == "the run told no statistics"
    assert statistics(over(expired_at=AT), None).note == "past retention: the statistics were purged"


def test_no_answer_has_a_success_rate() -> None:
    names = [field.name for field in msgspec.structs.fields(CrawlStatistics)]
    assert not [name for name in names if "rate" in name or "success" in name or "percent" in name]
