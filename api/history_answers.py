"""What callers get about the past: events as they stand in the log, and the signed head of their chain."""

from typing import Any

from api.answers import Answer
from api.times import Timestamp


class Event(Answer, frozen=True, kw_only=True):
    """One event of a job as it stands in the log.

    `hash` is the BLAKE2b-256 of its stored bytes; `prevHash` is that of the org's event before it.
    """

    seq: int
    type: str
    event_id: str
    partition: int
    position: int
    occurred_at: Timestamp
    actor: str
    attempt: int
    correlation_id: str
    traceparent: str
    hash: str
    prev_hash: str
    data: dict[str, Any]  # the fields of the event's type (docs/events.md), named as there
    private: Any  # url, input, metadata, messages; a note where they are encrypted


class Events(Answer, frozen=True, kw_only=True):
    """Events of a job in their order; `nextAfter` is null behind the last."""

    job_id: str
    events: list[Event]
    next_after: int | None


class ChainHead(Answer, frozen=True, kw_only=True):
    """The newest signed head of an org's hash chain; docs/history.md says what the signature covers."""

    ledger: str
    org_id: str
    partition: int
    position: int
    hash: str  # BLAKE2b-256 of the stored bytes of the org's event at that position, in hex
    signed_at: Timestamp
    signature: str  # Ed25519, base64
    public_key: str  # base64
