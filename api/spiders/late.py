"""What the runner of a lost job told when it was heard of again: recorded, and of no effect."""

from api.operation import Call
from api.spiders.job_answers import LateReport
from api.spiders.job_shown import state_of
from api.times import iso
from projections.postgres.rows import instant
from projections.postgres.spider_views import SpiderJob
from schemas.events import ReportRefused


async def late_report(call: Call, job: SpiderJob) -> LateReport | None:
    """Return how the run of a lost job ended by its runner; None: the job is not lost, or nothing was told since."""
    if state_of(job) != "lost":
        return None
    entry = await call.parts.history.last_of(call.caller, job.job_id, ReportRefused.__name__)
    if entry is None or entry.recorded is None or not isinstance(event := entry.recorded.event, ReportRefused):
        return None
    if not event.outcome:
        return None
    return LateReport(
        outcome=event.outcome, items=event.items, reported_at=iso(instant(entry.recorded.header.occurred_at))
    )
