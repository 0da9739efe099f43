"""Reads a job with everything about it in one statement: one round trip, and of one instant."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, LiteralString

from msgspec.json import Decoder
from psycopg import sql
from psycopg.rows import no_result

from projections.postgres.listing import columns
from projections.postgres.rows import Delivery, Job, Transition, Visit
from projections.postgres.views import Gate, JobDetail

_TRANSITIONS = Decoder(list[Transition])
_TRACE = Decoder(list[Visit])
_DELIVERIES = Decoder(list[Delivery])
_GATE = Decoder(Gate)
_JOB_COLUMNS = Job.__struct_fields__


@cache
def statement(text: LiteralString) -> sql.Composed:
    """Return the statement: the columns of the job, then its parts, each as the text of JSON."""
    return sql.SQL(text).format(
        columns=columns(Job),
        transition=columns(Transition),
        visit=columns(Visit),
        delivery=columns(Delivery),
        gate=columns(Gate),
    )


def row_factory(cursor: Any) -> Callable[[Sequence[Any]], JobDetail]:
    """Make rows of the statement into jobs: a row factory of psycopg."""
    return no_result if cursor.description is None else _detail


def _detail(row: Sequence[Any]) -> JobDetail:
    transitions, trace, deliveries, gate = row[len(_JOB_COLUMNS) :]
    return JobDetail(
        Job(**dict(zip(_JOB_COLUMNS, row, strict=False))),
        _TRANSITIONS.decode(transitions),
        _TRACE.decode(trace),
        _DELIVERIES.decode(deliveries),
        _GATE.decode(gate),
    )
