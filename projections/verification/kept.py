"""What rows are told in: columns by name, and values as Postgres holds them."""

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

import msgspec

from schemas.events import AnyEvent
from schemas.recorded import Recorded

Columns = dict[str, Any]
Rows = dict[tuple[Any, ...], Columns]  # by what tells the rows of one job apart
Kind = TypeVar("Kind", bound=AnyEvent)


def key_columns(recorded: Recorded) -> Columns:
    """Return the columns that every row about one event has."""
    header, event = recorded.header, recorded.event
    return {
        "org_id": event.org_id,
        "job_id": event.job_id,
        "event_id": UUID(bytes=header.event_id),
        "partition": header.partition,
        "attempt": event.attempt,
    }


def last(events: Sequence[Recorded], kind: type[Kind]) -> Kind | None:
    """Return the newest event of a kind."""
    return next((each.event for each in reversed(events) if isinstance(each.event, kind)), None)


def exact_json(value: Any) -> Any:
    """Return a JSON value with exact numbers, as `read_json` reads what Postgres holds; None stays None."""
    return None if value is None else read_json(msgspec.json.encode(value))


def read_json(data: str | bytes) -> Any:
    """Read JSON keeping every digit: Postgres holds numbers exactly, floats would differ in how they print."""
    return json.loads(data, parse_float=Decimal, parse_int=Decimal)
