"""The rule of `schemas/strangers.py` for readers that do not ask what events say: by their checksums (ADR 10).

What fits its checksum and is the next event is whole, for this place, and as the decider wrote it: nothing of it is
read. Anything else, events of earlier versions among it, is judged as everywhere, by reading it to its end; so is what
comes first of each schema, since the registry may not be the one that the log was written with.
"""

from schemas.checksum import CHECKSUM_HEADER, checksum_of
from schemas.codec import FRAME, Claim, event_type_of
from schemas.record import Record
from schemas.strangers import POSITION_HEADER, Read, next_claim

TYPE_HEADER = "ce_type"
# Of the headers as the decider writes them; in any other order an event is read.
TYPE_AT, POSITION_AT, CHECKSUM_AT, HEADERS = 1, 5, 6, 7


class Checked:
    """Judges the records of a log; `read` reads one to its end."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._types: dict[bytes, tuple[str, bytes]] = {}  # by frame of a schema that was read: what its header said

    def next_claim(self, record: Record, last: int) -> Claim | None:
        """Return and raise what the function of this name does."""
        headers, frame = record.headers, record.value[: FRAME.size]
        if len(headers) == HEADERS and (known := self._types.get(frame)) is not None:
            (event_type, ce_type), position = known, last + 1
            checksum = checksum_of(record.partition, position, ce_type, record.key.encode(), record.value)
            if (
                headers[CHECKSUM_AT] == (CHECKSUM_HEADER, checksum)
                and headers[POSITION_AT] == (POSITION_HEADER, b"%d" % position)
                and headers[TYPE_AT] == (TYPE_HEADER, ce_type)
            ):
                return Claim(record.partition, position, record.key, None, event_type)
        claim = next_claim(record, last, self._read)
        if claim is not None and len(headers) == HEADERS:
            self._types[frame] = (event_type_of(headers), dict(headers).get(TYPE_HEADER, b""))
        return claim
