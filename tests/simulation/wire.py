"""What the clients of the simulated broker share: messages, errors, and the time that a call takes."""

import asyncio
from collections.abc import Callable

from confluent_kafka import KafkaError, KafkaException

from tests.simulation import fibers
from tests.simulation.broker import Broker, Entry
from tests.simulation.life import Life, of_the_world
from tests.simulation.rough import Rough

# Time is cheap here, steps are not: who waits in vain looks less often than in production.
IDLE_FACTOR = 5.0
DECIDING_FACTOR = 2.5  # its timers depend on it, and so often it asks how far it has heard its workers
IDLE_SECONDS = 30.0  # who only waits to be told to stop is woken by that
TIMED_OUT = KafkaError._TIMED_OUT
LARGEST_BYTES = 1_000_000  # librdkafka's message.max.bytes, with what a record takes beside key, value and headers
OVERHEAD_BYTES = 36


def failure(code: int, reason: str) -> KafkaException:
    """Return what librdkafka raises."""
    return KafkaException(KafkaError(code, reason))


def refuse_too_large(entry: Entry) -> None:
    """Raise what librdkafka does about a record that no batch may hold."""
    headers = sum(len(name) + len(value or b"") for name, value in entry.headers)
    if OVERHEAD_BYTES + len(entry.key) + len(entry.value) + headers > LARGEST_BYTES:
        raise failure(KafkaError.MSG_SIZE_TOO_LARGE, "simulated: too large")


class Message:
    """A record, or an error in its place."""

    def __init__(
        self, topic: str, partition: int, offset: int | None, entry: Entry | None, error: KafkaError | None = None
    ):
        self._place = (topic, partition, offset)
        self._entry, self._error = entry, error

    def topic(self) -> str:
        """Topic."""
        return self._place[0]

    def partition(self) -> int:
        """Partition."""
        return self._place[1]

    def offset(self) -> int | None:
        """Offset; None of what did not land."""
        return self._place[2]

    def error(self) -> KafkaError | None:
        """Error in place of a record."""
        return self._error

    def key(self) -> bytes:
        """Key."""
        return self._entry.key if self._entry else b""

    def value(self) -> bytes | None:
        """Value."""
        return self._entry.value if self._entry and not self._entry.null else None

    def headers(self) -> list[tuple[str, bytes]] | None:
        """Headers; None where there are none."""
        return list(self._entry.headers) or None if self._entry else None

    def timestamp(self) -> tuple[int, int]:
        """Kind and milliseconds."""
        return 1, self._entry.timestamp_ms if self._entry else 0


class Wire:
    """The way between clients and their broker."""

    def __init__(self, broker: Broker, loop: asyncio.AbstractEventLoop, rough: Rough | None = None) -> None:
        self.broker, self.loop, self.chaos = broker, loop, broker.chaos
        self.rough = rough or Rough(broker.chaos)
        self.reply_lands: Callable[[bytes], None] = lambda _value: None
        self.read: Callable[[Life, str, bytes], None] = lambda _life, _topic, _value: None  # who reads what

    def call(self) -> None:
        """Take the time of one call in a fiber."""
        fibers.sleep(self.chaos.latency())

    def later(self, seconds: float, work: Callable[[], None]) -> None:
        """Do something later, whether or not the process still runs."""
        self.at(self.loop.time() + seconds, work)

    def at(self, when: float, work: Callable[[], None]) -> None:
        """Do something at a time; of the same time, in the order of asking."""
        self.loop.call_at(when, work, context=of_the_world())
