"""A Sender that keeps records in a list."""

from services.runtime.errors import BrokerFault, RecordRefused
from services.runtime.producer import Headers
from services.runtime.reader import Record

RECORD_LIMIT_BYTES = 1_000_000  # of the real client, message.max.bytes


class InMemoryProducer:
    """Keeps what was sent in `records`; set `failure` to have every send raise it."""

    def __init__(self, largest_value_bytes: int = RECORD_LIMIT_BYTES) -> None:
        self._limit_bytes = largest_value_bytes
        self.records: list[Record] = []
        self.failure: BrokerFault | None = None

    async def send(self, topic: str, partition: int, key: str, value: bytes, headers: Headers = ()) -> None:
        """Keep the record, or refuse it as the real producer would."""
        if self.failure:
            raise self.failure
        if len(value) > self._limit_bytes or len(key.encode()) + len(value) > RECORD_LIMIT_BYTES:
            raise RecordRefused(f"record for topic {topic}, partition {partition} refused: too large")
        offset = sum((record.topic, record.partition) == (topic, partition) for record in self.records)
        self.records.append(Record(topic, partition, offset, key, value, list(headers), 0))
