"""Runs a job at once, and keeps how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tests.fakes.warehouses.bigquery.engine import Bad, Engine, checked_row
from tests.fakes.warehouses.bigquery.limits import Limits
from tests.fakes.warehouses.bigquery.shapes import Job, Load, Schema

MESSAGES = {  # what a job says with a reason that a test switches on
    "invalidQuery": "Transaction is aborted due to concurrent update against table",
    "quotaExceeded": "Quota exceeded: Your table exceeded quota for imports or query appends per table",
}


@dataclass(slots=True)
class Ended:
    """A job; `looks`: so often it still runs."""

    what: Job
    faults: list[dict[str, str]] = field(default_factory=list)
    looks: int = 0

    def told(self) -> dict[str, Any]:
        """Return the resource of the job."""
        told: dict[str, Any] = msgspec.to_builtins(self.what)
        if self.looks:
            return told | {"status": {"state": "RUNNING"}}
        ended = {"errorResult": self.faults[0], "errors": self.faults} if self.faults else {}
        return told | {"status": {"state": "DONE", **ended}}


def ended_job(
    engine: Engine, job: Job, data: bytes, tables: Mapping[str, Schema], ends_with: str, limits: Limits
) -> Ended:
    """Run a job to its end."""
    if ends_with:
        return Ended(job, [_fault(ends_with, MESSAGES.get(ends_with, "switched on by a test"))])
    try:
        if load := job.configuration.load:
            large = limits.too_large(data)
            faults = _loaded(engine, load, data, tables) if large is None else _row_faults(1, large, "Row is too large")
            return Ended(job, faults)
        query = job.configuration.query
        assert query
        engine.run(query.query, {each.name: each.held for each in query.query_parameters})
    except Bad as bad:
        reason = "notFound" if "does not exist" in str(bad) else "invalidQuery"
        return Ended(job, [_fault(reason, str(bad))])
    return Ended(job)


def _loaded(engine: Engine, load: Load, data: bytes, tables: Mapping[str, Schema]) -> list[dict[str, str]]:
    place = load.destination_table
    schema = tables.get(place.table_id)
    if schema is None:
        return [_fault("notFound", f"Not found: Table {place.project_id}:{place.dataset_id}.{place.table_id}")]
    fields = {each.name: each for each in load.schema.fields}
    if {each.name: each for each in schema.fields} != fields:
        return [_fault("invalid", "Provided Schema does not match Table")]
    rows = []
    position = 0
    for line in data.split(b"\n"):
        if line:
            try:
                rows.append(checked_row(line.decode(), fields))
            except Bad as bad:
                return _row_faults(len(rows) + 1, position, str(bad))
        position += len(line) + 1
    engine.replace(place.dataset_id, place.table_id, load.schema.fields, rows)
    return []


def _row_faults(row: int, position: int, said: str) -> list[dict[str, str]]:
    whole = (
        f"Error while reading data, error message: JSON table encountered too many errors, giving up. Rows: {row}; "
        "errors: 1. Please look into the errors[] collection for more details."
    )
    one = f"Error while reading data, error message: JSON parsing error in row starting at position {position}: {said}"
    return [_fault("invalid", whole), _fault("invalid", one)]


def _fault(reason: str, message: str) -> dict[str, str]:
    return {"reason": reason, "message": message, "location": ""}
