"""A stream of recorded events as who reads it gets it."""

from typing import TYPE_CHECKING

from services.decider.outgoing import event_headers
from services.runtime.ledger_log import Entry
from services.runtime.reader import Record

if TYPE_CHECKING:
    from tests.event_streams import Stream


def entries_of(stream: "Stream") -> list[Entry]:
    """Return the stream as a log would hand it out; its offsets skip some numbers, as commit markers do."""
    return [
        Entry(
            recorded,
            raw,
            recorded.header.event_type,
            stream.partition,
            recorded.header.position * 2,
            recorded.header.position,
        )
        for recorded, raw in zip(stream.events, stream.raws, strict=True)
    ]


def records_of(stream: "Stream") -> list[Record]:
    """Return the stream as records of the topic, with the headers that a decider sets."""
    return [
        Record(
            "events",
            stream.partition,
            recorded.header.position * 2,
            recorded.event.org_id,
            raw,
            event_headers(recorded, raw),
            recorded.header.occurred_at // 1000,
        )
        for recorded, raw in zip(stream.events, stream.raws, strict=True)
    ]
