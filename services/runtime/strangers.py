"""The rule of ADR 5 (`schemas/strangers.py`) for processes: their errors, and who hears of what was left out.

LogGap         an event is missing before this one
RegistryFault  whether the record is an event cannot be told now: wait, or end and be started again
"""

import logging
from collections.abc import Callable
from functools import partial

from schemas import strangers as rule
from schemas.checked import Checked
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
Judge = Callable[[Record, int], Claim | None]  # a record, and the position that it has to be behind


def by_reading(read: Read) -> Judge:
    """Return what judges each record by what it says; it raises Stranger, LogGap or RegistryFault."""
    return _of_processes(partial(rule.next_claim, read=read))


def by_checksum(read: Read) -> Judge:
    """Return what judges events by their checksums, for whoever does not ask what they say; `read` reads the others."""
    return _of_processes(Checked(read).next_claim)


def claim_of(record: Record, read: Read) -> Claim:
    """Return what the rule does, or raise Stranger or RegistryFault."""
    try:
        return rule.claim_of(record, read)
    except rule.SchemaLost as lost:
        raise RegistryFault(str(lost)) from lost


def _of_processes(judge: Judge) -> Judge:
    def judged(record: Record, last: int) -> Claim | None:
        try:
            return judge(record, last)
        except rule.EventsMissing as missing:
            raise LogGap(str(missing)) from None
        except rule.SchemaLost as lost:
            raise RegistryFault(str(lost)) from lost

    return judged


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
