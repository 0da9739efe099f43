"""Jobs of two orgs as rows of a real read model, many alike and at one instant; and lists of them in plain Python."""

import random
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
from msgspec import Struct
from msgspec.structs import asdict

from projections.postgres.rows import instant
from projections.postgres.views import Filters
from services.ledger.status import TERMINAL, Status
from services.runtime.sql import blocks

ORG, OTHER = "acme", "acme-2"
FIRST = instant(1_750_000_000_000_001)  # odd, so that lost microseconds show
TIMES = [FIRST + timedelta(microseconds=number) for number in (0, 1, 2, 1_000, 1_000_000)]
WORKFLOWS = ("w", "W", "wf 2", "")
DOMAINS = ("shop.example", "SHOP.example", "shop.exampl", "münchen.example")
SCHEDULES = (None, "s1", "s1 ", "%")
ERRORS = ("providers_exhausted", "providers", "internal")
STATUSES = tuple(Status)
EXTRACTED = (Status.EXTRACTION_DONE, Status.COMPLETED)

SQL = blocks(Path(__file__).with_name("listed_jobs.sql"))


class Listed(Struct, frozen=True, kw_only=True):
    """A job, as far as a list asks for it."""

    org_id: str
    job_id: str
    status: str
    workflow_id: str
    domain: str
    schedule_id: str | None
    error_type: str | None  # that was recorded
    submitted_at: Any

    @property
    def ended_of(self) -> str | None:
        """The class of its end, as callers know it."""
        return "cancelled" if self.status == Status.CANCELLED else self.error_type


def jobs(count: int, seed: int) -> list[Listed]:
    """Make jobs of every kind, most of them of the first org, their ids in no order of time."""
    chosen = random.Random(seed)
    made = []
    for number in range(count):
        status = chosen.choice(STATUSES)
        made.append(
            Listed(
                org_id=chosen.choice((ORG, ORG, ORG, OTHER)),
                job_id=f"{chosen.randrange(1 << 32):08x}-{number:04x}-7000-8000-000000000000",
                status=status.value,
                workflow_id=chosen.choice(WORKFLOWS),
                domain=chosen.choice(DOMAINS),
                schedule_id=chosen.choice(SCHEDULES),
                error_type=chosen.choice(ERRORS) if status == Status.FAILED else None,
                submitted_at=chosen.choice(TIMES),
            )
        )
    return made


def insert(connection: psycopg.Connection[Any], listed: Sequence[Listed]) -> None:
    """Write them as rows."""
    with connection.cursor() as cursor:
        cursor.executemany(SQL["insert"], list(map(_row, listed)))


def _row(job: Listed) -> dict[str, Any]:
    at, ended, extracted = job.submitted_at, job.status in TERMINAL, job.status in EXTRACTED
    running, waits = job.status == Status.RUNNING, job.status == Status.WAITING_RETRY
    claimed = running or waits or extracted
    return asdict(job) | {
        "claimed": claimed,
        "claimed_at": at if claimed else None,
        "worker": "w" if running else None,
        "retry": at if waits else None,
        "extracted": at if extracted else None,
        "result_ref": "r" if extracted else None,
        "finished": at if ended else None,
        "finished_seq": 1 if ended else None,
        "opened_by": [] if job.status == Status.COMPLETED else None,
    }


def wanted(listed: Sequence[Listed], filters: Filters, *, oldest_first: bool) -> list[str]:
    """Return the ids of the list that callers ask for, in its order."""
    found = [job for job in listed if job.org_id == ORG and all(_meets(job, filters))]
    found.sort(key=lambda job: (job.submitted_at, job.job_id), reverse=not oldest_first)
    return [job.job_id for job in found]


def _meets(job: Listed, filters: Filters) -> Iterator[bool]:
    yield not filters.statuses or job.status in filters.statuses
    yield filters.workflow_id in (None, job.workflow_id)
    yield filters.domain in (None, job.domain)
    yield filters.schedule_id is None or filters.schedule_id == job.schedule_id
    yield filters.error_type is None or filters.error_type == job.ended_of
    yield filters.submitted_after is None or job.submitted_at >= filters.submitted_after
    yield filters.submitted_before is None or job.submitted_at < filters.submitted_before
