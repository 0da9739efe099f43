"""Why there are no items, in the words of the published API. Pure."""

from api.spiders.job_shown import counts_of, ended
from projections.postgres.spider_views import SpiderJob
from services.ledger.status import Status

NOT_STARTED = "not started yet"
NOTHING_YET = "running, nothing scraped yet"
WITHOUT_ITEMS = "finished without items"
PAST_RETENTION = "past retention"


def reason_of(job: SpiderJob) -> str | None:
    """Return why a job has no items to be read; None: it has some."""
    counts = counts_of(job)
    if job.expired_at:
        return PAST_RETENTION
    if counts.stored:
        return None
    if ended(job):
        return _written_none(counts.scraped) if counts.scraped else WITHOUT_ITEMS
    if counts.scraped:
        return f"scraped {counts.scraped}, none written yet"
    return NOT_STARTED if job.status in (Status.PENDING, Status.WAITING_RETRY) else NOTHING_YET


def _written_none(scraped: int) -> str:
    return f"reported {scraped} items but wrote no chunks (a storage write failed)"
