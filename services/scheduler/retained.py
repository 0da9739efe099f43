"""The jobs whose results are past retention, as the read model has them: it forgets nothing and fits on a disk."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from psycopg import sql
from psycopg.rows import class_row

from api.config.store import Pool
from services.runtime.sql import blocks
from services.scheduler.read_model import reading

SQL = blocks(Path(__file__).with_name("retained.sql"))
MOST_OF_AN_ORG = 100  # of one look
MOST = 1_000
MODULES, ALL_OTHERS = "of_modules", "of_others"  # whose results are looked for


@dataclass(frozen=True, slots=True)
class Overdue:
    """A job that ended longer ago than its org's results are kept."""

    org_id: str
    job_id: str
    partition: int
    finished_at: datetime

    @property
    def place(self) -> tuple[datetime, str]:
        """Where it stands among those of its org."""
        return self.finished_at, self.job_id


class Retained(Protocol):
    """Where ended jobs stand whose results have not expired."""

    async def look(self, seen: Mapping[str, Overdue], away: Collection[int]) -> Sequence[Overdue]:
        """Return some jobs past retention, by org those behind the last one seen, none of partitions that are away."""


class StoredRetained:
    """The jobs of the read model in Postgres, and the times that the operator set for orgs."""

    def __init__(self, pool: Pool, retention_seconds: int, whose: str = ALL_OTHERS) -> None:
        self._pool, self._retention_seconds = pool, retention_seconds
        self._query = sql.SQL(SQL["past_retention"]).format(whose=sql.SQL(SQL[whose]))

    async def look(self, seen: Mapping[str, Overdue], away: Collection[int]) -> Sequence[Overdue]:
        """Return some jobs past retention, by org those behind the last one seen, none of partitions that are away."""
        values = {
            "retention_seconds": self._retention_seconds,
            "orgs": list(seen),
            "finished": [each.finished_at for each in seen.values()],
            "jobs": [each.job_id for each in seen.values()],
            "away": list(away),
            "most_of_an_org": MOST_OF_AN_ORG,
            "most": MOST,
        }
        async with reading(self._pool) as connection, connection.cursor(row_factory=class_row(Overdue)) as cursor:
            return await (await cursor.execute(self._query, values)).fetchall()
