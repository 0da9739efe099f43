"""The keys of jobs, in the session of a caller who reads or erases other rows with them: one instant, one commit."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from psycopg import Connection
from psycopg.rows import tuple_row

from services.runtime.shredding.codec import JobKey
from services.runtime.shredding.vault import Vault
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("queries.sql"))


def keys_of(connection: Connection[Any], vault: Vault, jobs: Collection[JobKey]) -> dict[JobKey, bytes]:
    """Return the keys of those of these jobs that have one, by one query; none for no jobs."""
    if not jobs:
        return {}
    with connection.cursor(row_factory=tuple_row) as cursor:
        return vault.opened(cursor.execute(SQL["keys_of_jobs"], arrays(jobs)))


def having_keys(connection: Connection[Any], jobs: Collection[JobKey]) -> set[JobKey]:
    """Return those of these jobs whose key was not destroyed, whether or not it can be opened."""
    if not jobs:
        return set()
    with connection.cursor(row_factory=tuple_row) as cursor:
        return {(org_id, job_id) for org_id, job_id in cursor.execute(SQL["having_keys"], arrays(jobs))}


def destroy(connection: Connection[Any], jobs: Collection[JobKey]) -> None:
    """Destroy the keys of jobs: what was sealed under them is unreadable once the caller's transaction commits."""
    connection.execute(SQL["destroy"], arrays(jobs))


def arrays(jobs: Collection[JobKey]) -> dict[str, list[str]]:
    """Return jobs as the two arrays that the statements take."""
    listed = list(jobs)
    return {"orgs": [org_id for org_id, _ in listed], "jobs": [job_id for _, job_id in listed]}
