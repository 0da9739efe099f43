"""Where the partitions of a topic begin and end now.

Asked by a consumer's question for times, which takes the two ends of a log for times too: one request for all
partitions, 0.4 ms where the client stays open, 7 ms with one of its own, and no stall in 3,000 calls. Its watermark
query is two requests for each partition. The admin client's list_offsets would be one for all too, but in librdkafka
2.14 its leader query now and then sleeps for 3 s (3 of 120 fresh clients, and at times a used one), and a question that
timed out is answered with the offset -1001 and no error.

A commit returns before its marker is written (seen on Apache Kafka 4.4): for some milliseconds the last stable offset
lies before records whose writer was told that they are committed. `Ends.settled` waits for that.
"""

import asyncio
import threading
import time
from collections.abc import Iterable
from typing import Literal

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition

from services.runtime.errors import BrokerFault
from services.runtime.kafka import Config, client_config, error_of
from services.runtime.settings import Settings
from services.runtime.topics import ends_group

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


def first_offsets(settings: Settings, topic: str, partitions: Iterable[int]) -> dict[int, int]:
    """Return the first offset that each partition still holds; BrokerFault where the broker does not tell."""
    return _Asked(settings, topic).of(partitions, OFFSET_BEGINNING, ELECTION_SECONDS)


def committed_end(settings: Settings, topic: str, partitions: Iterable[int]) -> dict[int, int]:
    """Return the offset behind the last record that a read_committed reader sees now; BrokerFault as above.

    The offset of a transactional topic is never reached by a record: the last one is a commit marker. A reader
    has caught up with this answer when it has read every record below it: compare positions, or ask
    `LogReader.at_end`. On Tansu the answer is too small (a batch counts as one): there, read to `at_end` instead.
    """
    return _Asked(settings, topic).of(partitions, OFFSET_END, ELECTION_SECONDS)


def ask_offsets(consumer: Consumer, topic: str, partitions: Iterable[int], which: int) -> dict[int, int]:
    """Return the offsets of OFFSET_BEGINNING or OFFSET_END by partition, or raise KafkaException.

    A read_committed consumer is told where open transactions begin. The question waits behind a fetch of the same
    consumer that the broker holds back.
    """
    places = [TopicPartition(topic, partition, which) for partition in partitions]
    told = consumer.offsets_for_times(places, timeout=REQUEST_SECONDS) if places else []
    for place in told:
        if place.error is not None:
            raise KafkaException(place.error)
        if place.offset < 0:
            raise KafkaException(KafkaError(KafkaError.LEADER_NOT_AVAILABLE, f"partition {place.partition} not told"))
    return {place.partition: place.offset for place in told}


class Ends:
    """The same for whoever asks often: its clients stay open. From an event loop, the asking is done in threads."""

    def __init__(self, settings: Settings, topic: str) -> None:
        self._committed = _Asked(settings, topic, "read_committed")
        self._written = _Asked(settings, topic, "read_uncommitted")

    async def of(self, partitions: Iterable[int]) -> dict[int, int]:
        """Return what `committed_end` does."""
        return await asyncio.to_thread(self._committed.of, partitions, OFFSET_END)

    def of_one(self, partition: int) -> int:
        """Return the same for one partition, in a thread that may block; BrokerFault at the first error."""
        return self._committed.of([partition], OFFSET_END, patience_seconds=0)[partition]

    async def firsts(self, partitions: Iterable[int]) -> dict[int, int]:
        """Return what `first_offsets` does."""
        return await asyncio.to_thread(self._committed.of, partitions, OFFSET_BEGINNING)

    async def settled(self, partition: int) -> int:
        """Return an offset behind everything that was written before the call, once all of that is decided.

        Just below it is the marker of a transaction. Waits as long as a transaction from before the call is open:
        set a timeout. Raises BrokerFault where the broker does not tell.
        """
        written = (await asyncio.to_thread(self._written.of, [partition], OFFSET_END))[partition]
        while (end := (await self.of([partition]))[partition]) < written:  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(SETTLE_SECONDS)
        return end


class _Asked:
    """Asks about one topic through one client; safe to use from many threads."""

    def __init__(self, settings: Settings, topic: str, isolation: Isolation = "read_committed") -> None:
        self._settings = settings
        self._topic = topic
        self._isolation = isolation
        self._consumer: Consumer | None = None
        self._lock = threading.Lock()

    def of(self, partitions: Iterable[int], which: int, patience_seconds: float = REQUEST_SECONDS) -> dict[int, int]:
        """Ask, and again for so long where the broker says that it cannot tell yet; BrokerFault at the end."""
        asked = list(partitions)
        deadline = time.monotonic() + patience_seconds
        while True:
            consumer = self._client()
            try:
                return ask_offsets(consumer, self._topic, asked, which)
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


def _config(settings: Settings, isolation: Isolation) -> Config:
    return client_config(settings, "ends") | {
        "group.id": ends_group(settings),
        "isolation.level": isolation,
    }
