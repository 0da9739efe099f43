"""Reads partitions of a topic from given offsets, in order, and stops at the first thing that is not right."""

import time
from collections.abc import Iterable, Mapping

from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]
from msgspec import Struct

from services.runtime.errors import BrokerFault, LogGap, RuntimeFault
from services.runtime.kafka import Config, client_config, error_of
from services.runtime.settings import Settings

Headers = list[tuple[str, bytes]]
REQUEST_SECONDS = 10.0
RETRY_SECONDS = 0.1
NOT_THERE = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})  # noqa: SLF001

NOT_YET = frozenset(  # what a broker answers about a new topic, or while it elects a leader
    {
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError._TRANSPORT,  # noqa: SLF001
    }
)


class Record(Struct, frozen=True, gc=False):
    """One record of a topic, as it came. An absent key or value is empty."""

    topic: str
    partition: int
    offset: int
    key: str
    value: bytes
    headers: Headers
    timestamp_ms: int


class LogReader:
    """Reads committed records of `starts` (partition -> next offset) without a consumer group and commits nothing.

    `poll` raises LogGap where an asked-for offset is no longer (or not yet) in the log, and BrokerFault for every
    error that librdkafka does not cure by itself. After either the reader is done for: every further poll raises
    the same again. Made for a topic or partition that is not there, it raises BrokerFault at once: librdkafka would
    wait for it without a word. Not safe for use from two threads.
    """

    def __init__(self, settings: Settings, topic: str, starts: Mapping[int, int]) -> None:
        self._topic = topic
        self._failure: RuntimeFault | None = None
        self._at_end: set[int] = set()
        self._partitions = frozenset(starts)
        self._consumer = Consumer(_config(settings))
        try:
            _check_partitions(self._consumer, settings, topic, self._partitions)
        except RuntimeFault:
            self._consumer.close()
            raise
        self._consumer.assign([TopicPartition(topic, partition, offset) for partition, offset in starts.items()])

    def poll(self, max_records: int, timeout_seconds: float) -> list[Record]:
        """Return up to `max_records` records, waiting at most `timeout_seconds` for the first of them.

        Records of one partition come in the order of their offsets. An empty list means nothing: poll again.
        """
        if self._failure:
            raise self._failure
        try:
            first = self._consumer.poll(timeout_seconds)
            if first is None:
                return []
            rest = self._consumer.consume(max_records - 1, 0) if max_records > 1 else []
            return [record for message in (first, *rest) if (record := self._record(message))]
        except KafkaException as exception:
            self._failure = BrokerFault(f"reading {self._topic} failed: {error_of(exception).str()}")
            raise self._failure from exception
        except RuntimeFault as fault:
            self._failure = fault
            raise

    def at_end(self) -> bool:
        """Whether every partition had been read to its last committed record when it was last looked at.

        A hint for people and tests; the log may have grown since. An open transaction hides what comes after it.
        """
        return self._at_end == self._partitions

    def close(self) -> None:
        """Leave the broker."""
        self._consumer.close()

    def _record(self, message: Message) -> Record | None:
        partition, error = message.partition(), message.error()
        assert partition is not None
        if error is not None:
            if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001
                raise self._fault(message, error)
            self._at_end.add(partition)
            return None
        self._at_end.discard(partition)
        return Record(
            self._topic,
            partition,
            message.offset(),  # type: ignore[arg-type]  # None only for errors
            (message.key() or b"").decode("utf-8", "replace"),
            message.value() or b"",
            message.headers() or [],  # type: ignore[arg-type]  # declared wider than it is
            message.timestamp()[1],
        )

    def _fault(self, message: Message, error: KafkaError) -> RuntimeFault:
        place = f"topic {self._topic}, partition {message.partition()}, offset {message.offset()}"
        if error.code() in NOT_THERE:
            return LogGap(
                f"{place}: not in the log ({error.str()}). Records were deleted, or this checkpoint belongs to "
                "another log: restore the log, or rebuild from a snapshot or from the first offset"
            )
        return BrokerFault(f"{place}: {error.name()}: {error.str()}; look at the broker's log and the topic's rights")


def _check_partitions(consumer: Consumer, settings: Settings, topic: str, partitions: frozenset[int]) -> None:
    try:
        found = consumer.list_topics(topic, timeout=REQUEST_SECONDS).topics[topic].partitions
    except KafkaException as exception:
        raise BrokerFault(f"Kafka at {settings.kafka} does not answer: {error_of(exception).str()}") from exception
    if absent := sorted(partitions - set(found)):
        raise BrokerFault(
            f"topic {topic} has no partition {', '.join(map(str, absent))} (it has {len(found)}): "
            "are the topics made (`jobledger up`), and is JOBLEDGER_PARTITIONS right?"
        )


def _config(settings: Settings) -> Config:
    return client_config(settings, "reader") | {
        "group.id": f"{settings.topic_prefix}.reader",  # librdkafka wants one; assign() never joins it
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "error",
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
        "check.crcs": True,
        "fetch.queue.backoff.ms": 5,  # the default of 1000 caps a reader at 29k records/s
        "queued.min.messages": 20_000,
        "queued.max.messages.kbytes": 32_768,
        # Kafka wakes a waiting fetch on data; Tansu does not.
        "fetch.wait.max.ms": 15 if settings.broker == "tansu" else 500,
    }


def first_offsets(settings: Settings, topic: str, partitions: Iterable[int]) -> dict[int, int]:
    """Return the first offset that each partition still holds; for an empty one, its next offset."""
    return _offsets(settings, topic, partitions, OffsetSpec.earliest())  # type: ignore[no-untyped-call]


def committed_end(settings: Settings, topic: str, partitions: Iterable[int]) -> dict[int, int]:
    """Return the offset behind the last record that a read_committed reader sees now (last stable offset).

    The offset of a transactional topic is never reached by a record: the last one is a commit marker. A reader
    has caught up with this answer when `next_offset` has passed every record below it: compare positions, or ask
    `LogReader.at_end`. On Tansu the answer is too small (a batch counts as one): there, read to `at_end` instead.
    """
    return _offsets(settings, topic, partitions, OffsetSpec.latest())  # type: ignore[no-untyped-call]


def _offsets(settings: Settings, topic: str, partitions: Iterable[int], spec: OffsetSpec) -> dict[int, int]:
    """Ask once, and again for a while where the broker says that it cannot tell yet (a new topic, a new leader)."""
    client = AdminClient(client_config(settings, "offsets"))
    asked = {TopicPartition(topic, partition): spec for partition in partitions}
    deadline = time.monotonic() + REQUEST_SECONDS
    while True:
        futures = client.list_offsets(
            asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=REQUEST_SECONDS
        )
        try:
            return {place.partition: future.result(REQUEST_SECONDS + 5).offset for place, future in futures.items()}
        except KafkaException as exception:
            error = error_of(exception)
            if error.code() not in NOT_YET or time.monotonic() >= deadline:
                raise BrokerFault(
                    f"Kafka at {settings.kafka} does not tell the offsets of {topic}: {error.str()}; "
                    "is the broker up and the topic made (`jobledger up`)?"
                ) from exception
        time.sleep(RETRY_SECONDS)
