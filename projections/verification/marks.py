"""Compares the tables of ClickHouse that only note that something became of a job, with the events that say so.

Such a table has one row for each job, which the view of an event inserted once. A second one, though merging would take
it away, means that the view counted an event twice.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from projections.postgres.rows import JobKey
from projections.verification.compare import shown
from projections.verification.faults import Fault
from projections.verification.log import PartitionLog
from schemas.events import AnyEvent, JobDeleted, JobExpired
from schemas.recorded import Recorded

Rows = Iterator[dict[str, Any]]


class Marks:
    """Checks one such table, one partition of the log after the other; `left` comes last."""

    def __init__(self, table: str, of: type[AnyEvent], dated: str, rows: Rows) -> None:
        """`dated`: the column that has the time of the event, if there is one."""
        self.table = table
        self.compared = 0
        self._of, self._dated = of, dated
        self._rows: dict[tuple[bytes, bytes], Counter[int]] = {}
        for row in rows:
            at = row[dated] if dated else 0
            self._rows.setdefault((row["org_id"], row["job_id"]), Counter())[at] += 1

    def check(self, log: PartitionLog, folded: int) -> Iterator[Fault]:
        """Yield what is missing, doubled or dated otherwise; what the log says behind `folded` may be missing yet."""
        for key, events in log.jobs.items():
            said = next((each for each in events if isinstance(each.event, self._of)), None)
            if said is None:
                continue
            found = self._rows.pop((key[0].encode(), key[1].encode()), Counter())
            self.compared += found.total()
            yield from self._differences(key, said, found, folded)

    def left(self) -> Iterator[Fault]:
        """Yield the rows of jobs of which the log does not say it."""
        for org_id, job_id in sorted(self._rows):
            names = org_id.decode("utf-8", "replace"), job_id.decode("utf-8", "replace")
            yield Fault(self.table, *names, "row", "none", "one too many")

    def _differences(self, key: JobKey, said: Recorded, found: Counter[int], folded: int) -> Iterator[Fault]:
        if not found and said.header.position <= folded:
            yield Fault(self.table, *key, "row", "one", "none")
        if found.total() > 1:
            yield Fault(self.table, *key, "row", "one", str(found.total()))
        if self._dated:
            for at in found.keys() - {said.header.occurred_at}:
                yield Fault(self.table, *key, self._dated, shown(said.header.occurred_at), shown(at))


def marks_of(query: Callable[[str], Rows]) -> list[Marks]:
    """Return the checks of all such tables; `query` returns the rows of a named block."""
    return [
        Marks("expired_jobs", JobExpired, "expired_at", query("expired_jobs")),
        Marks("deleted_jobs", JobDeleted, "", query("deleted_jobs")),
    ]
