"""What callers get of spider jobs, in the snake_case of their published API."""

from typing import Any

from api.spiders.answers import SpiderAnswer
from api.times import Timestamp


class SpiderJobLine(SpiderAnswer, frozen=True, kw_only=True):
    """A spider job as a row of a list."""

    key: str
    org: str
    project: str
    state: str
    spiders: list[str]
    grouped: bool  # several spiders in one process: items belong to the job, not to one of them
    deploy_version: int | None
    schedule_id: int | None  # whose run it is; that schedule may be gone
    priority: int
    items_total: int  # that were scraped so far
    items_stored: int
    items_buffered: int  # still on the runner: scraped and not stored
    snapshot: bool  # counts may yet change
    error_type: str | None
    reason: str | None  # why it failed
    delivered: str | None  # what arrived where, or the error; null: nothing is delivered
    created_at: Timestamp
    started_at: Timestamp | None
    finished_at: Timestamp | None
    expired_at: Timestamp | None  # since when items, log and statistics are gone


class LateReport(SpiderAnswer, frozen=True, kw_only=True):
    """What the runner of a lost job told when it was heard of again; the job stays lost."""

    outcome: str  # succeeded, or the class of its failure
    items: int  # that it says it has scraped
    reported_at: Timestamp


class SpiderJob(SpiderJobLine, frozen=True, kw_only=True):
    """A spider job with the run options that it has for life."""

    spider_args: dict[str, str]
    settings: dict[str, Any]
    env_names: list[str]  # values are not shown
    unblock: str
    proxy_country: str | None
    isolate_pipelines: bool
    memory: int  # MiB
    cpus: float
    timeout_seconds: int
    log_level: str
    late_report: LateReport | None  # of a lost job: how its run ended, as its runner said too late


class SpiderJobs(SpiderAnswer, frozen=True, kw_only=True):
    """Spider jobs, newest first; `next_cursor` leads to older ones, null: there are none."""

    jobs: list[SpiderJobLine]
    next_cursor: str | None


class SpiderJobStatus(SpiderAnswer, frozen=True, kw_only=True):
    """What state a job was brought to."""

    key: str
    state: str


class SpiderLog(SpiderAnswer, frozen=True, kw_only=True):
    """Lines of a log, oldest first."""

    lines: list[str]
    source: str  # live: the job has not ended; stored: it has; none: there is no log
    complete: bool  # nothing that was asked for is missing, and nothing follows
    note: str | None  # why it is empty or cut


class SpiderItems(SpiderAnswer, frozen=True, kw_only=True):
    """Items in the order in which they were stored."""

    items: list[Any]
    next_cursor: str  # behind these; a page from there on never has one of them again
    has_more: bool  # more are stored by now
    status: str  # the state of the job
    reason: str | None  # why there is none
    items_scraped: int
    items_stored: int
    items_buffered: int
    snapshot: bool


class Responses(SpiderAnswer, frozen=True, kw_only=True):
    """Answers that came back."""

    ok: int
    failed: int  # 4xx and 5xx


class CrawlStatistics(SpiderAnswer, frozen=True, kw_only=True):
    """How a crawl goes. Null where the run has not told: a count that nobody made is not 0."""

    key: str
    state: str
    snapshot: bool
    updated_at: Timestamp | None
    items_scraped: int
    items_stored: int
    items_buffered: int
    responses: Responses | None
    errors: int | None  # below HTTP: no answer came back
    into_downloader: int | None  # requests that were handed to it
    answered_before_fetch: int | None  # requests that were answered or dropped before it
    retried: int | None
    note: str | None  # why there are none
    stats: dict[str, Any]  # all that Scrapy and the project counted, by its own names


class SpiderOfProject(SpiderAnswer, frozen=True, kw_only=True):
    """What came of one spider."""

    spider: str
    in_latest_deploy: bool
    runs: int  # alone
    items: int  # that its own runs stored
    grouped_runs: int  # together with others: their items belong to no single spider
    last_run: SpiderJobLine | None


class SpidersOfProject(SpiderAnswer, frozen=True, kw_only=True):
    """The spiders of a project, by name: those of its latest deploy, and those that ever ran."""

    spiders: list[SpiderOfProject]
