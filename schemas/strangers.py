"""Tells events from what somebody else wrote to their topic: the one rule of everything that reads the log (ADR 5).

Only the decider may write there, but a topic cannot see to that by itself. What is no event for the place where it lies
is a stranger's record: it is left out, and the position stays. Positions are gapless, so nothing can be hidden in this
way: behind an event that was left out because it is damaged, the next one does not follow, and that stops every reader.

Stranger       the record is no event of ours; go past it
EventsMissing  it is one, but not the next
SchemaLost     it bears the decider's marks, and the registry does not know its schema: wait, or end and start again
"""

from collections.abc import Callable

from schemas.codec import FRAME, Claim, NotAnEvent, UnknownSchema, event_type_of
from schemas.record import Record

POSITION_HEADER = "ledger-position"
POSITION_DIGITS = 19  # of the largest position that Avro and Postgres can hold
BAD_MESSAGE, FOREIGN_ORG = "bad_message", "foreign_org"  # reasons of dead letters, docs/errors.md

Read = Callable[[bytes], Claim]  # `Decoder.claim`, or `Decoder.whole`


class Stranger(Exception):  # nothing is wrong with the reader
    """A record that the decider did not write; `reason` is one of those of dead letters."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class EventsMissing(Exception):
    """The log does not continue where it has to."""


class SchemaLost(Exception):
    """The registry does not know the schema of what looks like an event of ours."""


Noted = Callable[[Record, Stranger], None]


def next_claim(record: Record, last: int, read: Read) -> Claim | None:
    """Return what the event behind position `last` says, None for one that was folded before.

    Raises Stranger, EventsMissing or SchemaLost. A fence, which is empty and says position 0, counts as folded before.
    """
    position = position_of(record)
    if position <= last and (position or not record.value):
        return None
    claim = claim_of(record, read)
    if position != last + 1:
        raise EventsMissing(
            f"{place(record.topic, record.partition, record.offset)}: position {position} follows {last}: events "
            "are missing between them; restore the log, or rebuild this reader from the first offset"
        )
    return claim


def claim_of(record: Record, read: Read) -> Claim:
    """Return what an event says; raise Stranger where the record is none, or is one for another place."""
    position = position_of(record)
    try:
        claim = read(record.value)
    except NotAnEvent as error:
        said = event_type_of(record.headers)
        if error.schema not in ("", said) and _bears_our_marks(record):
            raise SchemaLost(
                f"{place(record.topic, record.partition, record.offset)}: a {said}, but the registry has the schema of "
                f"{error.schema} under its id: is it the registry that this log was written with?"
            ) from error
        raise Stranger(BAD_MESSAGE, str(error)) from error
    except UnknownSchema as error:
        if _bears_our_marks(record):
            at = place(record.topic, record.partition, record.offset)
            raise SchemaLost(f"{at}: {error}: restore the registry's schemas, then start again") from error
        raise Stranger(BAD_MESSAGE, str(error)) from error
    if claim.partition != record.partition:
        raise Stranger(FOREIGN_ORG, f"an event of partition {claim.partition}")
    if claim.org_id != record.key:
        raise Stranger(FOREIGN_ORG, "an event of another org than its key says")
    if claim.position != position:
        raise Stranger(BAD_MESSAGE, f"its header says position {position}, the event says {claim.position}")
    return claim


def position_of(record: Record) -> int:
    """Return the position that a record says in its header, 0 for a fence; raise Stranger where it says none."""
    for name, value in record.headers:
        if name == POSITION_HEADER and value.isdigit() and len(value) <= POSITION_DIGITS:
            return int(value)
    raise Stranger(BAD_MESSAGE, f"no usable {POSITION_HEADER} header")


def is_fence(record: Record) -> bool:
    """Whether a record is a fence, by which a decider learns where the log ends; raise Stranger where it cannot be."""
    return not record.value and position_of(record) == 0


def place(topic: str, partition: int, offset: int) -> str:
    """Name a record for people."""
    return f"topic {topic}, partition {partition}, offset {offset}"


def _bears_our_marks(record: Record) -> bool:
    """Whether headers and first bytes are what the decider writes: then it is the registry that has lost something."""
    headers = dict(record.headers)
    event_id = record.value[FRAME.size : FRAME.size + 16].hex().encode()
    return (
        headers.get("ce_id") == event_id
        and headers.get("ce_source") == b"/jobledger/%d" % record.partition
        and headers.get("ce_type", b"").startswith(b"jobledger.")
    )
