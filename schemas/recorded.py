"""An event as it stands in the log: what it says, and where, when and why it was recorded."""

from typing import Annotated

from msgspec import Struct

from schemas.events import AnyEvent
from schemas.values import Micros, doc


class Header(Struct, frozen=True, kw_only=True, gc=False):
    """Where, when and why an event was recorded."""

    event_id: Annotated[bytes, doc("16 bytes, a UUID of version 7")]
    event_type: Annotated[str, doc("name of the Avro record")]
    seq: Annotated[int, doc("gapless ordinal within the job, from 1; within the org for events about an org")]
    partition: Annotated[int, doc("partition of the ledger")]
    position: Annotated[int, doc("gapless ordinal within the partition, from 1; dedupe and resume by it")]
    occurred_at: Annotated[Micros, doc("when it was decided; never decreases within a partition")]
    actor: Annotated[str, doc("who asked: api:<key id>, worker:<id>, writer:<id>, timer, operator")]
    cause: Annotated[int, doc("offset of the last command that had been decided; -1: none yet")]
    correlation_id: Annotated[str, doc("id of the caller's request")]
    traceparent: Annotated[str, doc("W3C trace context; empty: none")]
    prev_hash: Annotated[bytes, doc("BLAKE2b-256 of the stored bytes of the org's previous event; zeros: the first")]


class Recorded(Struct, frozen=True, gc=False):
    """An event as it stands in the log."""

    header: Header
    event: AnyEvent
