"""A list of records in place of a LogReader, and event records to put into it."""

import uuid

from schemas.avro_of import record_schema
from schemas.codec import Decoder, Encoder
from schemas.events import EVENT_TYPES, AnyEvent, WriterOpened
from schemas.recorded import Header, Recorded
from services.decider.outgoing import event_headers
from services.runtime.ids import uuid7
from services.runtime.reader import Record

IDS = {name: number for number, name in enumerate(EVENT_TYPES, 1)}
NAMES = {number: name for name, number in IDS.items()}
ENCODER = Encoder(IDS)


class InMemoryRecords:
    """Gives out `records` in order; more may be appended at any time."""

    def __init__(self, records: list[Record]) -> None:
        self.records = records
        self.next = 0
        self.closed = False

    def poll(self, max_records: int, _timeout_seconds: float) -> list[Record]:
        """Return the next records without waiting."""
        batch = self.records[self.next : self.next + max_records]
        self.next += len(batch)
        return batch

    def next_offsets(self) -> dict[int, int]:
        """Return where reading goes on."""
        return {record.partition: record.offset + 1 for record in self.records[: self.next]}

    def at_end(self) -> bool:
        """Whether all were given out."""
        return self.next == len(self.records)

    def close(self) -> None:
        """Note that it was closed."""
        self.closed = True


def local_decoder() -> Decoder:
    """Return a decoder of `event_record`s that needs no registry."""
    return Decoder(lambda schema_id: record_schema(NAMES[schema_id]))


def event_record(position: int, event: AnyEvent | None = None, *, partition: int = 0, offset: int = -1) -> Record:
    """Return an event as the decider records it; by default at the offset that its position would have alone."""
    event = event or WriterOpened(writer_id="test")
    name = type(event).__name__
    header = Header(
        event_id=uuid.UUID(uuid7()).bytes,
        event_type=name,
        seq=position,
        partition=partition,
        position=position,
        occurred_at=position,
        actor="operator",
        cause=-1,
        correlation_id="",
        traceparent="",
        prev_hash=bytes(32),
    )
    recorded = Recorded(header, event)
    value = ENCODER.encode(recorded)
    headers = event_headers(recorded, value)
    return Record("test.events", partition, position - 1 if offset < 0 else offset, event.org_id, value, headers, 0)
