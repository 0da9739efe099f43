"""The fires of schedules: whether the log has each due time once and in order, and the read model says the same.

A fire and its jobs have to name each other.
"""

from collections.abc import Iterable, Iterator
from uuid import UUID

from projections.postgres.rows import JobKey
from projections.verification.compare import shown
from projections.verification.expected import LAST_MICROS, Columns
from projections.verification.faults import Fault
from projections.verification.log import PartitionLog
from schemas.events import JobSubmitted, ScheduleFired
from schemas.recorded import Recorded
from schemas.values import FireKind

TABLE = "schedule_fires"


def check_fires(log: PartitionLog) -> Iterator[Fault]:
    """Yield what is wrong with the fires of a partition, by the log alone."""
    newest: dict[tuple[str, str], int] = {}
    named: dict[JobKey, str] = {}  # the schedule that a fire says submitted a job
    for recorded, event in _fires(log):
        named |= dict.fromkeys(((event.org_id, job_id) for job_id in event.job_ids), event.schedule_id)
        for job_id in event.job_ids:
            missing = (event.org_id, job_id) not in log.jobs
            if missing and recorded.header.position + len(event.job_ids) <= log.position:  # not cut off by the end
                yield Fault("log", event.org_id, job_id, "JobSubmitted", f"by schedule {event.schedule_id}", "none")
        if event.how is FireKind.TRIGGER:
            continue
        key = (event.org_id, event.schedule_id)
        if event.due_at <= newest.get(key, -1):
            place = f"{event.schedule_id} seq={recorded.header.seq}"
            yield Fault("log", event.org_id, place, "due_at", f"after {newest[key]}", str(event.due_at))
        newest[key] = max(event.due_at, newest.get(key, -1))
    for (org_id, job_id), events in log.jobs.items():
        first, fired = events[0].event, named.get((org_id, job_id), "")
        if isinstance(first, JobSubmitted) and fired != first.schedule_id:
            yield Fault("log", org_id, job_id, "schedule_id", fired or "none", first.schedule_id or "none")


def compare_fires(log: PartitionLog, found: Iterable[Columns]) -> Iterator[Fault]:
    """Yield what is missing, too much or different among the rows of a partition."""
    expected = {(event.org_id, recorded.header.seq): _row(recorded, event) for recorded, event in _fires(log)}
    for row in found:
        place = f"{row['schedule_id']} seq={row['seq']}"
        wanted = expected.pop((row["org_id"], row["seq"]), None)
        if wanted is None:
            yield Fault(TABLE, row["org_id"], place, "row", "none", "one too many")
            continue
        for name, value in wanted.items():
            if row[name] != value:
                yield Fault(TABLE, row["org_id"], place, name, shown(value), shown(row[name]))
    for (org_id, seq), wanted in expected.items():
        yield Fault(TABLE, org_id, f"{wanted['schedule_id']} seq={seq}", "row", "one", "none")


def _fires(log: PartitionLog) -> Iterator[tuple[Recorded, ScheduleFired]]:
    for recorded in log.recorded:
        if isinstance(recorded.event, ScheduleFired):
            yield recorded, recorded.event


def _row(recorded: Recorded, event: ScheduleFired) -> Columns:
    header = recorded.header
    return {
        "org_id": event.org_id,
        "seq": header.seq,
        "schedule_id": event.schedule_id,
        "event_id": UUID(bytes=header.event_id),
        "partition": header.partition,
        "position": header.position,
        "due_at": min(event.due_at, LAST_MICROS),
        "how": str(event.how),
        "outcome": str(event.outcome),
        "code": event.code or None,
        "due_times": event.due_times,
        "job_ids": list(event.job_ids),
        "fired_at": header.occurred_at,
        "actor": header.actor,
    }
