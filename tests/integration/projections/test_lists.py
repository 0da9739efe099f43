"""The rows behind every filter of the list of jobs, alone and with all others, are those that a loop over all finds."""

import random
from collections import Counter
from itertools import combinations
from typing import Any

import psycopg
import pytest

from projections.postgres.read import ReadModel
from projections.postgres.views import Cursor, Filters, JobLine
from services.ledger.status import error_type_of
from services.runtime.settings import Settings
from tests.integration.projections.listed_jobs import (
    DOMAINS,
    ERRORS,
    ORG,
    SCHEDULES,
    STATUSES,
    TIMES,
    WORKFLOWS,
    Listed,
    insert,
    jobs,
    wanted,
)

JOBS = 500
ABSENT = "no such"
VALUES: dict[str, list[Any]] = {
    "statuses": list(combinations(STATUSES, 2)) + [(status, status, "lost") for status in STATUSES],
    "workflow_id": [*WORKFLOWS, ABSENT],
    "domain": [*DOMAINS, ABSENT],
    "schedule_id": [*filter(None, SCHEDULES), ABSENT],
    "error_type": [*ERRORS, "cancelled", ABSENT],
    "submitted_after": TIMES,
    "submitted_before": TIMES,
}
TOGETHER = [names for size in range(len(VALUES) + 1) for names in combinations(VALUES, size)]
DRAWS = 4  # of values for each set of filters
SEEDS = (1, 2)


@pytest.fixture
def listed() -> list[Listed]:
    return jobs(JOBS, seed=7)


@pytest.fixture
def filled(settings: Settings, listed: list[Listed]) -> str:
    with psycopg.connect(settings.postgres, autocommit=True) as connection:
        insert(connection, listed)
    return settings.postgres


def drawn(names: tuple[str, ...], chosen: random.Random, listed: list[Listed]) -> Filters:
    """Return filters with values: mostly those of one job, so that many of them together still find some."""
    job = chosen.choice(listed)
    own: dict[str, Any] = {
        "statuses": (job.status, chosen.choice(STATUSES).value),
        "workflow_id": job.workflow_id,
        "domain": job.domain,
        "schedule_id": job.schedule_id,
        "error_type": job.ended_of,
        "submitted_after": chosen.choice(TIMES),
        "submitted_before": chosen.choice(TIMES),
    }
    values = {name: own[name] if chosen.random() < 0.8 else chosen.choice(VALUES[name]) for name in names}
    return Filters(**{name: chosen.choice(VALUES[name]) if value is None else value for name, value in values.items()})


async def paged(model: ReadModel, filters: Filters, *, oldest_first: bool, limit: int) -> list[JobLine]:
    """Read a list page by page, each cursor through its text, as callers pass it."""
    found: list[JobLine] = []
    place: Cursor | None = None
    while True:
        page = await model.page(ORG, filters, after=place, limit=limit, oldest_first=oldest_first)
        assert len(page.jobs) == limit or page.next is None, "only the last page is not full"
        found += page.jobs
        if page.next is None:
            return found
        place = Cursor.decode(page.next.encode())
        assert place.oldest_first == oldest_first


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_set_of_filters_finds_its_jobs_each_once_and_in_order(
    seed: int, filled: str, listed: list[Listed]
) -> None:
    chosen, met, by_id = random.Random(seed), Counter[str](), {job.job_id: job for job in listed}
    async with ReadModel(filled, max_connections=1) as model:
        for names in TOGETHER:
            for _ in range(DRAWS):
                filters, oldest_first = drawn(names, chosen, listed), chosen.random() < 0.5
                expected = wanted(listed, filters, oldest_first=oldest_first)
                limit = max(1, len(expected) // chosen.randint(1, 5))  # the last page is full, or not
                found = await paged(model, filters, oldest_first=oldest_first, limit=limit)
                assert [line.job_id for line in found] == expected, (filters, oldest_first, limit)
                assert all(_as_listed(line, by_id[line.job_id]) for line in found)
                met.update(dict.fromkeys(names if expected else (), 1))
    assert min(met[name] for name in VALUES) > DRAWS * len(TOGETHER) / 10, f"too few lists hold a job: {met}"


def _as_listed(line: JobLine, job: Listed) -> bool:
    return error_type_of(line.status, line.error_type) == job.ended_of and all(
        getattr(line, name) == getattr(job, name)
        for name in ("status", "workflow_id", "domain", "schedule_id", "submitted_at")
    )
