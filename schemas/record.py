"""A record of a Kafka topic."""

from typing import Any

from msgspec import Struct

Headers = list[tuple[str, bytes]]


class Record(Struct, frozen=True, gc=False):
    """One record of a topic, as it came. An absent key or value is empty."""

    topic: str
    partition: int
    offset: int
    key: str
    value: bytes
    headers: Headers
    timestamp_ms: int


def record_of(topic: str, message: Any) -> Record:
    """Return the record in a message of confluent_kafka; a header without a value, as strangers write, is empty."""
    headers = message.headers() or []
    for _, value in headers:
        if value is None:
            headers = [(name, value or b"") for name, value in headers]
            break
    key = (message.key() or b"").decode("utf-8", "replace")
    value, (_, timestamp) = message.value() or b"", message.timestamp()
    return Record(topic, message.partition(), message.offset(), key, value, headers, timestamp)
