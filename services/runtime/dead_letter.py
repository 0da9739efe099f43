"""Records that cannot be used are parked with the reason and where they came from, up to a limit.

docs/errors.md says what a dead letter holds and which reasons there are.
"""

import asyncio
import hashlib
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from services.runtime.errors import DeadLetterLimit, NotDelivered, RecordRefused
from services.runtime.metrics import count
from services.runtime.producer import Sender
from services.runtime.reader import Headers, Record
from services.runtime.settings import Settings
from services.runtime.time import monotonic
from services.runtime.topics import dead_letters

log = logging.getLogger(__name__)
VALUE_LIMIT_BYTES = 900 * 1024  # leaves room for key and headers under Kafka's limit of 1,000,000 at the client
KEY_LIMIT_CHARACTERS = 256
DETAIL_LIMIT_CHARACTERS = 2000
TYPE_LIMIT_BYTES = 256
KEPT = frozenset({"ce_type", "redriven-from"})  # headers of the record that its dead letter has too, as origin-<name>
HOUR_SECONDS = 3600.0
PARK_TIMEOUT_SECONDS = 35.0  # longer than a producer tries

Ages = Mapping[str, Iterable[float]]  # by topic
Park = Callable[[Record, str, str], None]  # dead-letters a record: reason and detail; raises where it cannot


class Letter(Struct, frozen=True):
    """A dead letter as it is produced."""

    key: str
    value: bytes
    headers: Headers


def letter_of(record: Record, reason: str, detail: str = "") -> Letter:
    """Return the dead letter of a record: origin, reason and SHA-256 in its headers, the value cut at 900 KiB.

    Headers: origin-topic, origin-partition, origin-offset, origin-timestamp-ms, reason, detail, sha256 (of the whole
    value), origin-bytes (its size: larger than the value here means that it was cut), and where given origin-ce_type
    and origin-redriven-from.
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
        *((f"origin-{name}", value[:TYPE_LIMIT_BYTES]) for name, value in record.headers[:100] if name in KEPT),
    ]
    return Letter(record.key[:KEY_LIMIT_CHARACTERS], record.value[:VALUE_LIMIT_BYTES], headers)


class HourlyLimit:
    """Counts what was parked of one topic within the last hour and stops at a limit.

    `ages` are seconds since records were parked by earlier runs: a process that is started again and again is
    stopped all the same.
    """

    def __init__(self, limit: int, clock: Callable[[], float] = monotonic, ages: Iterable[float] = ()) -> None:
        self._limit = limit
        self._clock = clock
        self._times: deque[float] = deque(sorted(clock() - age for age in ages))

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
    """Parks records on the topic of dead letters. When it raises, stop: the record is not taken care of.

    `parked` tells how many seconds ago records of each topic were parked within the last hour, by whomever; it is
    asked in a thread, before the first record is parked. None: nothing was.
    """

    def __init__(
        self,
        producer: Sender,
        settings: Settings,
        clock: Callable[[], float] = monotonic,
        parked: Callable[[], Ages] | None = None,
    ) -> None:
        self._producer = producer
        self._topic = dead_letters(settings)
        self._limit, self._clock, self._parked = settings.dead_letter_limit, clock, parked
        self._limits: dict[str, HourlyLimit] | None = None
        self._counting = asyncio.Lock()

    async def park(self, record: Record, reason: str, detail: str = "") -> None:
        """Return when the dead letter is durable; raise DeadLetterLimit, RecordRefused or NotDelivered otherwise.

        `reason` is one word of a small set (it labels a metric), `detail` is for people. NotDelivered after
        PARK_TIMEOUT_SECONDS, whatever it waits for then.
        """
        try:
            async with asyncio.timeout(PARK_TIMEOUT_SECONDS):
                await self._park(record, reason, detail)
        except TimeoutError as error:
            raise NotDelivered(
                f"the dead letter of {record.topic}, partition {record.partition}, offset {record.offset} was not "
                f"acknowledged within {PARK_TIMEOUT_SECONDS:g} s: is the broker up? It is parked again after a "
                "restart"
            ) from error

    async def _park(self, record: Record, reason: str, detail: str) -> None:
        (await self._limit_of(record.topic)).take()
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

    async def _limit_of(self, topic: str) -> HourlyLimit:
        async with self._counting:
            if self._limits is None:
                ages = await asyncio.to_thread(self._parked) if self._parked else {}
                self._limits = {name: HourlyLimit(self._limit, self._clock, of) for name, of in ages.items()}
            return self._limits.setdefault(topic, HourlyLimit(self._limit, self._clock))


def parking_from_threads(letters: DeadLetters, loop: asyncio.AbstractEventLoop) -> Park:
    """Return what parks a record from a thread beside this event loop, and returns when the letter is durable."""

    def park(record: Record, reason: str, detail: str) -> None:
        asyncio.run_coroutine_threadsafe(letters.park(record, reason, detail), loop).result()

    return park
