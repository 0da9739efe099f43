"""Compares the sets of positions that ClickHouse counts jobs by, by org, hour and stage, with the log.

They hold every event that ever was inserted, also of jobs that were deleted and of days that are forgotten.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from projections.postgres.rows import instant
from projections.verification.faults import Fault
from projections.verification.log import PartitionLog

TABLE = "stage_positions"
HOUR = 3_600_000_000  # microseconds
STAGES = {
    "JobSubmitted": "submitted",
    "JobDispatched": "dispatched",
    "JobClaimed": "claimed",
    "RetryScheduled": "retried",
    "JobExtracted": "extracted",
    "JobCompleted": "completed",
    "JobFailed": "failed",
    "JobCancelled": "cancelled",
}
Cell = tuple[bytes, int, bytes]  # org, microseconds of the hour, stage; text as it is stored


def compare_stages(log: PartitionLog, rows: Iterable[dict[str, Any]], last: int, folded: int) -> Iterator[Fault]:
    """Yield positions up to `last` that are missing or too much; those behind `folded` may be missing yet."""
    wanted: dict[Cell, set[int]] = {}
    for each in log.recorded:
        header, stage = each.header, STAGES.get(each.header.event_type, "")
        cell = (each.event.org_id.encode(), header.occurred_at // HOUR * HOUR, stage.encode())
        wanted.setdefault(cell, set()).add(header.position)
    for row in rows:
        cell = (row["org_id"], row["hour"], row["stage"])
        found, expected = {at for at in row["positions"] if at <= last}, wanted.pop(cell, set())
        for position in sorted(found - expected):
            yield _fault(log, cell, position, "none", "one too many")
        for position in sorted(each for each in expected - found if each <= folded):
            yield _fault(log, cell, position, "one", "none")
    for cell, positions in wanted.items():
        for position in sorted(each for each in positions if each <= folded):
            yield _fault(log, cell, position, "one", "none")


def _fault(log: PartitionLog, cell: Cell, position: int, expected: str, found: str) -> Fault:
    org_id, hour, stage = cell
    place = f"{stage.decode('utf-8', 'replace') or 'no stage'} {instant(hour):%Y-%m-%dT%H}"
    where = f"{place} partition={log.partition} position={position}"
    return Fault(TABLE, org_id.decode("utf-8", "replace"), where, "row", expected, found)
