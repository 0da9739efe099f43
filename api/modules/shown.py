"""From a row of the read model, and the counts beside its newest chunk, to a module job as callers see it. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from api.modules.answers import Breakdown, JobPublic, QueryStats
from api.times import iso, iso_or_none
from projections.postgres.item_reading import come_of
from projections.postgres.rows import Job, Transition
from projections.postgres.views import JobDetail
from schemas.values import Vocabulary
from services.ledger.status import TERMINAL, Status
from services.ledger.vocabularies import shown
from services.workers.modules.stats import Stats


def state_of(row: Job) -> str:
    """Return what callers call the state of a module job."""
    claimed = row.attempt > 0
    return shown(Vocabulary.MODULE, Status(row.status), expired=row.expired_at is not None, claimed=claimed)


def downloadable(row: Job) -> bool:
    """Whether there is a file to be downloaded: of a job that has ended, until it expires."""
    if row.status not in TERMINAL or row.expired_at:
        return False
    return row.status == Status.COMPLETED or come_of(row).rows > 0


def filename_of(row: Job, extension: str = "json") -> str:
    """Return what the file of a job is called."""
    return f"{row.workflow_id}-{row.job_id}.{extension}"


def job_public(detail: JobDetail, stats: Stats, *, links: int, kept_seconds: int) -> JobPublic:
    """Show everything about a job; `links`: jobs of its chain, `kept_seconds`: of its results, 0: for ever."""
    row = detail.job
    come = come_of(row)
    asked = row.input if isinstance(row.input, dict) else {}
    can_download = downloadable(row)
    return JobPublic(
        id=row.job_id,
        job_type=row.workflow_id,
        queries=_texts(asked.get("queries")),
        zones=_texts(asked.get("zones")),
        status=state_of(row),
        grid_points_count=come.planned,
        processed_points=come.processed,
        results_count=come.rows,
        error_count=come.errors,
        ef_cost=come.cost,
        created_at=iso(row.submitted_at),
        started_at=iso_or_none(started(detail.transitions)),
        completed_at=iso_or_none(row.finished_at),
        expires_at=iso_or_none(_expires(row, kept_seconds)),
        error_message=row.error_message,
        output_filename=filename_of(row) if can_download else None,
        download_available=can_download,
        source_job_id=come.source_job_id or None,
        breakdown=Breakdown(
            by_query={name: count.results for name, count in stats.by_query.items()},
            by_zone={name: count.results for name, count in stats.by_zone.items()},
        ),
        dead_queries=[name for name, count in stats.by_query.items() if not count.results],
        total_attempts_count=links,
        query_stats=query_stats(stats),
    )


def query_stats(stats: Stats) -> dict[str, QueryStats]:
    """Show what came of each query so far."""
    return {
        name: QueryStats(processed=count.processed, results=count.results, errors=count.errors)
        for name, count in stats.by_query.items()
    }


def _texts(given: Any) -> list[str]:
    return [each for each in given if isinstance(each, str)] if isinstance(given, list) else []


def started(transitions: Sequence[Transition]) -> datetime | None:
    """Return when a job was first claimed."""
    return min((each.occurred_at for each in transitions if each.event_type == "JobClaimed"), default=None)


def _expires(row: Job, kept_seconds: int) -> datetime | None:
    if row.expired_at or not (row.finished_at and kept_seconds):
        return row.expired_at
    try:
        return row.finished_at + timedelta(seconds=kept_seconds)
    except OverflowError:
        return None
