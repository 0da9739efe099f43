"""Shows the statistics of a crawl. Pure."""

from api.spiders.empty import PAST_RETENTION
from api.spiders.figures import figures_of
from api.spiders.job_answers import CrawlStatistics, Responses
from api.spiders.job_shown import counts_of, ended, state_of
from api.times import iso_or_none
from projections.postgres.item_reading import Counted
from projections.postgres.spider_views import SpiderJob


def statistics(job: SpiderJob, newest: Counted | None) -> CrawlStatistics:
    """Show the newest statistics of a job; None: there are none (yet)."""
    told = newest.stats if newest and isinstance(newest.stats, dict) else None
    figures = figures_of(told) if told is not None else None
    counts = counts_of(job)
    return CrawlStatistics(
        key=job.job_id,
        state=state_of(job),
        snapshot=not ended(job),
        updated_at=iso_or_none(newest.occurred_at if newest else None),
        items_scraped=counts.scraped,
        items_stored=counts.stored,
        items_buffered=counts.buffered,
        responses=Responses(ok=figures.ok, failed=figures.failed) if figures else None,
        errors=figures.errors if figures else None,
        into_downloader=figures.into_downloader if figures else None,
        answered_before_fetch=figures.answered_before_fetch if figures else None,
        retried=figures.retried if figures else None,
        note=_note(job, newest),
        stats=told or {},
    )


def _note(job: SpiderJob, newest: Counted | None) -> str | None:
    if job.expired_at:
        return f"{PAST_RETENTION}: the statistics were purged"
    if newest:
        if ended(job) and not newest.final:
            return "the run ended without its last statistics: these are older than its end"
        return None
    if not job.claimed_at:
        return "the job never started" if ended(job) else "the job has not started yet"
    return "the run told no statistics" if ended(job) else "no statistics yet: the first come within 30 s"
