"""Records that cannot be used are parked with the reason and where they came from, up to a limit.

docs/errors.md says what a dead letter holds and which reasons there are.
"""

import hashlib
import logging
import time
from collections import deque
from collections.abc import Callable

from msgspec import Struct

from services.runtime.errors import DeadLetterLimit, RecordRefused
from services.runtime.metrics import count
from services.runtime.producer import Sender
from services.runtime.reader import Headers, Record
from services.runtime.settings import Settings
from services.runtime.topics import dead_letters

log = logging.getLogger(__name__)
VALUE_LIMIT_BYTES = 900 * 1024  # leaves room for key and headers under Kafka's limit of 1,000,000 at the client
KEY_LIMIT_CHARACTERS = 256
DETAIL_LIMIT_CHARACTERS = 2000
TYPE_LIMIT_BYTES = 256
HOUR_SECONDS = 3600.0


class Letter(Struct, frozen=True):
    """A dead letter as it is produced."""

    key: str
    value: bytes
    headers: Headers


def letter_of(record: Record, reason: str, detail: str = "") -> Letter:
    """Return the dead letter of a record: origin, reason and SHA-256 in its headers, the value cut at 900 KiB.

    Headers: origin-topic, origin-partition, origin-offset, origin-timestamp-ms, reason, detail, sha256 (of the whole
    value), origin-bytes (its size: larger than the value here means that it was cut), and origin-ce_type where given.
    """
    headers: Headers = [
        ("origin-topic", record.topic.encode()),
        ("origin-partition", b"%d" % record.partition),
        ("origin-offset", b"%d" % record.offset),
        ("origin-timestamp-ms", b"%d" % record.timestamp_ms),
        ("origin-bytes", b"%d" % len(record.value)),
        ("sha256", hashlib.sha256(record.value).hexdigest().encode()),
        ("reason", reason.encode()),
        ("detail", detail[:DETAIL_LIMIT_CHARACTERS].encode(errors="replace")),
        *((f"origin-{name}", value[:TYPE_LIMIT_BYTES]) for name, value in record.headers[:100] if name == "ce_type"),
    ]
    return Letter(record.key[:KEY_LIMIT_CHARACTERS], record.value[:VALUE_LIMIT_BYTES], headers)


class HourlyLimit:
    """Counts what was parked within the last hour and stops at a limit."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._times: deque[float] = deque()

    def take(self) -> None:
        """Count one more, or raise DeadLetterLimit."""
        now = self._clock()
        while self._times and self._times[0] <= now - HOUR_SECONDS:
            self._times.popleft()
        if len(self._times) >= self._limit:
            raise DeadLetterLimit(
                f"{self._limit} records were parked within an hour: look at the topic of dead letters for the cause, "
                "then start again (JOBLEDGER_DEAD_LETTER_LIMIT sets the limit)"
            )
        self._times.append(now)


class DeadLetters:
    """Parks records on the topic of dead letters. When it raises, stop: the record is not taken care of."""

    def __init__(self, producer: Sender, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._producer = producer
        self._topic = dead_letters(settings)
        self._limit = HourlyLimit(settings.dead_letter_limit, clock)

    async def park(self, record: Record, reason: str, detail: str = "") -> None:
        """Return when the dead letter is durable; raise DeadLetterLimit, RecordRefused or NotDelivered otherwise.

        `reason` is one word of a small set (it labels a metric), `detail` is for people.
        """
        self._limit.take()
        letter = letter_of(record, reason, detail)
        try:
            await self._producer.send(self._topic, 0, letter.key, letter.value, letter.headers)
        except RecordRefused:  # perhaps for its size: the reference says where the record lies, and its digest
            await self._producer.send(self._topic, 0, letter.key, b"", letter.headers)
        count("dead_letters", origin=record.topic, reason=reason)
        log.error(
            "record dead-lettered",
            extra={
                "reason": reason,
                "detail": detail[:DETAIL_LIMIT_CHARACTERS],
                "topic": record.topic,
                "partition": record.partition,
                "offset": record.offset,
            },
        )
