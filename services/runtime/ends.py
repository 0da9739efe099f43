"""Where the partitions of a topic begin and end now.

Asked by the watermark query of a consumer: 0.4 ms where the client stays open, 8 ms with one of its own, and no stall
in 3,500 calls. The admin client's list_offsets would be one call for all partitions, but in librdkafka 2.14 its leader
query now and then sleeps for 3 s (3 of 120 fresh clients, and at times a used one), and a question that timed out is
answered with the offset -1001 and no error.

A commit returns before its marker is written (seen on Apache Kafka 4.4): for some milliseconds the last stable offset
lies before records whose writer was told that they are committed. `Ends.settled` waits for that.
"""

import asyncio
import threading
import time
from collections.abc import Iterable
from typing import Literal, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from services.runtime.errors import BrokerFault
from services.runtime.kafka import Config, client_config, error_of
from services.runtime.settings import Settings

REQUEST_SECONDS = 3.0
ELECTION_SECONDS = 10.0  # that a new topic may take to have leaders
RETRY_SECONDS = 0.1
SETTLE_SECONDS = 0.005  # between two looks at whether the marker is there
NOT_YET = frozenset(  # what a broker answers about a new topic, or while it elects a leader
    {
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError._TRANSPORT,  # noqa: SLF001
    }
)
Isolation = Literal["read_committed", "read_uncommitted"]


class Span(NamedTuple):
    """The first offset that a partition still holds, and the one behind its last record; equal where it is empty."""

    first: int
    end: int


def first_offsets(settings: Settings, topic: str, partitions: Iterable[int]) -> dict[int, int]:
    """Return the first offset that each partition still holds; BrokerFault where the broker does not tell."""
    return {partition: span.first for partition, span in _once(settings, topic, partitions).items()}


def committed_end(settings: Settings, topic: str, partitions: Iterable[int]) -> dict[int, int]:
    """Return the offset behind the last record that a read_committed reader sees now; BrokerFault as above.

    The offset of a transactional topic is never reached by a record: the last one is a commit marker. A reader
    has caught up with this answer when it has read every record below it: compare positions, or ask
    `LogReader.at_end`. On Tansu the answer is too small (a batch counts as one): there, read to `at_end` instead.
    """
    return {partition: span.end for partition, span in _once(settings, topic, partitions).items()}


class Ends:
    """The same for whoever asks often, from an event loop: its clients stay open, the asking is done in threads."""

    def __init__(self, settings: Settings, topic: str) -> None:
        self._committed = _Spans(settings, topic, "read_committed")
        self._written = _Spans(settings, topic, "read_uncommitted")

    async def of(self, partitions: Iterable[int]) -> dict[int, int]:
        """Return what `committed_end` does."""
        return await _ends(self._committed, list(partitions))

    async def firsts(self, partitions: Iterable[int]) -> dict[int, int]:
        """Return what `first_offsets` does."""
        return {at: span.first for at, span in (await asyncio.to_thread(self._committed.of, partitions)).items()}

    async def settled(self, partition: int) -> int:
        """Return an offset behind everything that was written before the call, once all of that is decided.

        Just below it is the marker of a transaction. Waits as long as a transaction from before the call is open:
        set a timeout. Raises BrokerFault where the broker does not tell.
        """
        written = (await _ends(self._written, [partition]))[partition]
        while (end := (await self.of([partition]))[partition]) < written:  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(SETTLE_SECONDS)
        return end


class _Spans:
    """Asks for the spans of one topic through one client; safe to use from many threads."""

    def __init__(self, settings: Settings, topic: str, isolation: Isolation = "read_committed") -> None:
        self._settings = settings
        self._topic = topic
        self._isolation = isolation
        self._consumer: Consumer | None = None
        self._lock = threading.Lock()

    def of(self, partitions: Iterable[int], patience_seconds: float = REQUEST_SECONDS) -> dict[int, Span]:
        """Ask, and again for so long where the broker says that it cannot tell yet; BrokerFault at the end."""
        asked = [TopicPartition(self._topic, partition) for partition in partitions]
        deadline = time.monotonic() + patience_seconds
        while True:
            consumer = self._client()
            try:
                return {
                    place.partition: Span(*consumer.get_watermark_offsets(place, timeout=REQUEST_SECONDS))
                    for place in asked
                }
            except KafkaException as exception:
                self._drop(consumer)
                error = error_of(exception)
                if error.code() not in NOT_YET or time.monotonic() >= deadline:
                    raise BrokerFault(
                        f"Kafka at {self._settings.kafka} does not tell where {self._topic} ends: {error.str()}; "
                        "is the broker up and the topic made (`jobledger up`)?"
                    ) from exception
            time.sleep(RETRY_SECONDS)

    def _client(self) -> Consumer:
        with self._lock:
            self._consumer = self._consumer or Consumer(_config(self._settings, self._isolation))
            return self._consumer

    def _drop(self, consumer: Consumer) -> None:
        """Let go of a client that met an error: one that slept through an election keeps to its old leaders."""
        with self._lock:
            if self._consumer is consumer:
                self._consumer = None


def _once(settings: Settings, topic: str, partitions: Iterable[int]) -> dict[int, Span]:
    return _Spans(settings, topic).of(partitions, ELECTION_SECONDS)


async def _ends(spans: _Spans, partitions: list[int]) -> dict[int, int]:
    return {partition: span.end for partition, span in (await asyncio.to_thread(spans.of, partitions)).items()}


def _config(settings: Settings, isolation: Isolation) -> Config:
    return client_config(settings, "ends") | {
        "group.id": f"{settings.topic_prefix}.ends",  # librdkafka wants one; it is never joined
        "isolation.level": isolation,
    }
