"""The rule of ADR 5 (`schemas/strangers.py`) for processes: their errors, and who hears of what was left out.

LogGap         an event is missing before this one
RegistryFault  whether the record is an event cannot be told now: wait, or end and be started again
"""

import logging

from schemas import strangers as rule
from schemas.codec import Claim
from schemas.record import Record
from schemas.strangers import BAD_MESSAGE as BAD_MESSAGE
from schemas.strangers import FOREIGN_ORG as FOREIGN_ORG
from schemas.strangers import POSITION_HEADER as POSITION_HEADER
from schemas.strangers import Noted as Noted
from schemas.strangers import Read as Read
from schemas.strangers import Stranger as Stranger
from schemas.strangers import is_fence as is_fence
from schemas.strangers import place as place
from schemas.strangers import position_of as position_of
from services.runtime.errors import LogGap, RegistryFault
from services.runtime.metrics import count

log = logging.getLogger(__name__)


def next_claim(record: Record, last: int, read: Read) -> Claim | None:
    """Return what the rule does, or raise Stranger, LogGap or RegistryFault."""
    try:
        return rule.next_claim(record, last, read)
    except rule.EventsMissing as missing:
        raise LogGap(str(missing)) from None
    except rule.SchemaLost as lost:
        raise RegistryFault(str(lost)) from lost


def claim_of(record: Record, read: Read) -> Claim:
    """Return what the rule does, or raise Stranger or RegistryFault."""
    try:
        return rule.claim_of(record, read)
    except rule.SchemaLost as lost:
        raise RegistryFault(str(lost)) from lost


def noting(reader: str) -> Noted:
    """Return what counts and logs the strangers' records that a reader goes past."""

    def note(record: Record, stranger: Stranger) -> None:
        count("events_not_ours", reader=reader)
        log.warning(
            "record left out: it is no event of ours",
            extra={
                "reader": reader,
                "reason": stranger.reason,
                "detail": str(stranger),
                "topic": record.topic,
                "partition": record.partition,
                "offset": record.offset,
            },
        )

    return note
