"""From a row of the read model, or the events of a job that it lacks, to a spider job as callers see it. Pure."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from api.spiders.delivered import delivered
from api.spiders.job_answers import LateReport, SpiderJob, SpiderJobLine
from api.spiders.schedule_numbers import number_of
from api.times import iso, iso_or_none
from projections.postgres import spider_views
from projections.postgres.item_reading import come_of
from projections.postgres.rows import Delivery, Transition
from projections.postgres.spider_views import SpiderDelivery
from projections.postgres.views import JobDetail
from schemas.values import Vocabulary
from services.ledger.status import TERMINAL, Status
from services.ledger.vocabularies import shown
from services.workers.spiders.options import RunOptions

SAYING = ("JobDispatched", "JobClaimed", "JobReleased")  # whether a task is out says the newest of these


class Counts(NamedTuple):
    """How many items a job has."""

    scraped: int
    stored: int

    @property
    def buffered(self) -> int:
        """Return how many are still on the runner."""
        return self.scraped - self.stored


def counts_of(job: spider_views.SpiderJob) -> Counts:
    """Return how many items a job has: what it said last of those that it scraped may be older than a chunk."""
    come = come_of(job)
    return Counts(max(come.scraped, come.rows, job.items or 0), come.rows)


def ended(job: spider_views.SpiderJob) -> bool:
    """Whether nothing more comes of a job."""
    return job.status in TERMINAL


def state_of(job: spider_views.SpiderJob) -> str:
    """Return what callers call the state of a spider job."""
    return shown(Vocabulary.SPIDER, Status(job.status), error_type=job.error_type or "", task_out=job.task_out)


def of_detail(detail: JobDetail) -> spider_views.SpiderJob:
    """Make a job of a detail, which the tail of the log has too."""
    row = detail.job
    own = {name: getattr(row, name) for name in spider_views.SpiderJob.__struct_fields__ if hasattr(row, name)}
    out = row.status == Status.PENDING and _task_out(detail.transitions)
    return spider_views.SpiderJob(
        **{**own, "options": row.input, "deliveries": _newest(detail.deliveries), "task_out": out}
    )


def job_line(job: spider_views.SpiderJob) -> SpiderJobLine:
    """Show a job as a row of a list."""
    return SpiderJobLine(**_line(job, _options(job)))


def job_shown(job: spider_views.SpiderJob, late: LateReport | None = None) -> SpiderJob:
    """Show a job with its run options, and what its runner told too late."""
    options = _options(job)
    return SpiderJob(
        **_line(job, options),
        spider_args=options.spider_args,
        settings=options.settings,
        env_names=sorted(options.env),
        unblock=options.unblock,
        proxy_country=options.proxy_country or None,
        isolate_pipelines=options.isolate_pipelines,
        memory=options.memory_mb,
        cpus=options.cpus,
        timeout_seconds=options.timeout_seconds,
        log_level=options.log_level,
        late_report=late,
    )


def _line(job: spider_views.SpiderJob, options: RunOptions) -> dict[str, Any]:
    counts = counts_of(job)
    return {
        "key": job.job_id,
        "org": job.org_id,
        "project": job.workflow_id,
        "state": state_of(job),
        "spiders": options.spiders,
        "grouped": options.grouped,
        "deploy_version": options.deploy_version or None,
        "schedule_id": number_of(job.schedule_id),
        "priority": job.priority,
        "items_total": counts.scraped,
        "items_stored": counts.stored,
        "items_buffered": counts.buffered,
        "snapshot": not ended(job),
        "error_type": job.error_type,
        "reason": _reason(job),
        "delivered": delivered(job.deliveries),
        "created_at": iso(job.submitted_at),
        "started_at": iso_or_none(job.claimed_at),
        "finished_at": iso_or_none(job.finished_at),
        "expired_at": iso_or_none(job.expired_at),
    }


def _options(job: spider_views.SpiderJob) -> RunOptions:
    """Return the run options of a job; those that nobody can read any more are empty."""
    given = job.options if isinstance(job.options, dict) else {}
    return msgspec.convert({"project": job.workflow_id, "spiders": [], "deploy_version": 0} | given, RunOptions)


def _reason(job: spider_views.SpiderJob) -> str | None:
    match state_of(job):
        case "timed_out":
            return f"it hit its time limit of {job.max_run_seconds} s"
        case "lost":
            return "its runner vanished: how it ended is unknown"
        case "failed":
            return job.error_message or job.error_type
        case _:
            return None


def _task_out(transitions: Sequence[Transition]) -> bool:
    said = [each.event_type for each in transitions if each.event_type in SAYING]
    return bool(said) and said[-1] == SAYING[0]


def _newest(deliveries: Sequence[Delivery]) -> list[SpiderDelivery]:
    newest = {row.destination_id: row for row in sorted(deliveries, key=lambda row: row.generation) if not row.erase}
    return [
        SpiderDelivery(row.destination_id, row.kind, row.status, row.rows, row.place, row.error_type, row.error_message)
        for _, row in sorted(newest.items())
    ]
