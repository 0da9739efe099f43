"""Reads a job with everything about it in one statement: one round trip, and of one instant."""

from collections.abc import Sequence
from functools import cache
from typing import Any, LiteralString

from msgspec.json import Decoder
from psycopg import sql

from projections.postgres.listing import columns
from projections.postgres.rows import Delivery, Job, Transition, Visit
from projections.postgres.views import Gate, JobDetail

_TRANSITIONS = Decoder(list[Transition])
_TRACE = Decoder(list[Visit])
_DELIVERIES = Decoder(list[Delivery])
_GATE = Decoder(Gate)
_JOB_COLUMNS = Job.__struct_fields__


@cache
def statement(text: LiteralString, which: LiteralString) -> bytes:
    """Return the statement: the columns of a job, then its parts, each as the text of JSON. Put together once."""
    return (
        sql.SQL(text)
        .format(
            columns=columns(Job),
            transition=columns(Transition),
            visit=columns(Visit),
            delivery=columns(Delivery),
            gate=columns(Gate),
            which=sql.SQL(which),
        )
        .as_bytes()
    )


def detail_of(row: Sequence[Any]) -> JobDetail:
    """Make a row of the statement into a job."""
    transitions, trace, deliveries, gate = row[len(_JOB_COLUMNS) :]
    return JobDetail(
        Job(**dict(zip(_JOB_COLUMNS, row, strict=False))),
        _TRANSITIONS.decode(transitions),
        _TRACE.decode(trace),
        _DELIVERIES.decode(deliveries),
        _GATE.decode(gate),
    )
