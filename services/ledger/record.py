"""Turns a decided event into a recorded one: its header, from the state of the partition and the moment."""

import hashlib

from msgspec import Struct

from schemas.events import AnyEvent
from schemas.recorded import Header, Recorded
from services.ledger.credits import with_refund
from services.ledger.ids import determined_id
from services.ledger.state import HASH_BYTES, NO_HASH, Ledger, next_seq


class Moment(Struct, frozen=True, gc=False):
    """When and for whom something is decided. `cause` is the offset of the last command decided."""

    now: int  # microseconds UTC
    cause: int
    actor: str = "timer"
    correlation_id: str = ""
    traceparent: str = ""


def record(ledger: Ledger, event: AnyEvent, moment: Moment) -> Recorded:
    """Return the event as it will stand at the next position of the partition, with what it gives back."""
    position = ledger.position + 1
    occurred_at = max(moment.now, ledger.occurred_at)
    prev_hash = ledger.heads.get(event.org_id, NO_HASH)
    return Recorded(
        Header(
            event_id=determined_id(occurred_at, b"%d:%d:%b" % (ledger.partition, position, prev_hash)),
            event_type=type(event).__name__,
            seq=next_seq(ledger, event),
            partition=ledger.partition,
            position=position,
            occurred_at=occurred_at,
            actor=moment.actor,
            cause=max(moment.cause, ledger.cause),
            correlation_id=moment.correlation_id,
            traceparent=moment.traceparent,
            prev_hash=prev_hash,
        ),
        with_refund(ledger, event),
    )


def digest_of(stored: bytes) -> bytes:
    """Hash of an event's stored bytes: the next event of the org carries it as `prev_hash`."""
    return hashlib.blake2b(stored, digest_size=HASH_BYTES).digest()
