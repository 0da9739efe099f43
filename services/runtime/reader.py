"""Reads partitions of a topic from given offsets, in order, and stops at the first thing that is not right."""

from collections.abc import Iterable, Mapping

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, KafkaException, Message, TopicPartition

from schemas.record import Headers as Headers
from schemas.record import Record as Record
from schemas.record import record_of
from services.runtime.ends import ask_offsets
from services.runtime.errors import BrokerFault, LogGap, RuntimeFault
from services.runtime.kafka import Config, client_config, error_of
from services.runtime.settings import Settings
from services.runtime.topics import reader_group

REQUEST_SECONDS = 10.0
JUMPING: Config = {"fetch.wait.max.ms": 5, "fetch.message.max.bytes": 128 * 1024, "queued.min.messages": 500}
FOLLOWING: Config = {"fetch.wait.max.ms": 5000}
GATHERING: Config = FOLLOWING | {"queued.min.messages": 1}
NOT_THERE = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})  # noqa: SLF001


class LogReader:
    """Reads committed records of `starts` (partition -> next offset) without a consumer group and commits nothing.

    `poll` raises LogGap where an asked-for offset is no longer (or not yet) in the log, and BrokerFault for every
    error that librdkafka does not cure by itself. After either the reader is done for: every further poll raises
    the same again. Made for a topic or partition that is not there, it raises BrokerFault at once: librdkafka would
    wait for it without a word. Not safe for use from two threads.

    A reader that jumps (`go_to`) is made with `jumping`: a fetch that the broker holds back until there is something
    new would hold back the next jump too, by half a second. One that follows a topic for the life of a process is made
    with `following`: it gets what comes as soon as any other, and asks the broker for it a tenth as often, so it sees
    an end that lies behind markers up to five seconds late, and must not ask for `end` or `firsts` itself. One that
    follows and takes what there is by batches is made with `gathering`: it asks for more when all that it has is taken,
    so that what comes meanwhile is one answer of the broker and not many.
    """

    def __init__(
        self,
        settings: Settings,
        topic: str,
        starts: Mapping[int, int],
        *,
        jumping: bool = False,
        following: bool = False,
        gathering: bool = False,
    ) -> None:
        self._settings = settings
        self._topic = topic
        self._failure: RuntimeFault | None = None
        self._at_end: set[int] = set()
        self._partitions = frozenset(starts)
        self._known = set(starts)
        self._next_offsets = dict(starts)
        config = _config(settings) | (JUMPING if jumping else {})
        if settings.broker != "tansu":  # which answers when the time is up
            config |= GATHERING if gathering else FOLLOWING if following else {}
        self._consumer = Consumer(config)
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

    def go_to(self, partition: int, offset: int) -> None:
        """Read this partition, and nothing else, from this offset on; raise BrokerFault where there is no such one."""
        self.start_over({partition: offset})

    def start_over(self, starts: Mapping[int, int]) -> None:
        """Read these partitions, and nothing else, from these offsets on; BrokerFault where one is not there."""
        if new := starts.keys() - self._known:
            _check_partitions(self._consumer, self._settings, self._topic, frozenset(new))
            self._known |= new
        self._partitions, self._next_offsets, self._at_end = frozenset(starts), dict(starts), set()
        self._consumer.assign([TopicPartition(self._topic, partition, at) for partition, at in starts.items()])

    def rest(self) -> None:
        """Read nothing until it is told where: the broker is not asked for records meanwhile."""
        self._partitions, self._next_offsets, self._at_end = frozenset(), {}, set()
        self._consumer.unassign()

    def next_offsets(self) -> dict[int, int]:
        """Return where reading each partition goes on.

        That is behind its last record and, once its end was seen, also behind what holds none: markers and aborted
        records.
        """
        return dict(self._next_offsets)

    def end(self, partition: int) -> int:
        """Return the offset behind the last committed record that the broker holds now, read or not.

        Raises BrokerFault where it does not tell; reading may go on then. On Tansu the answer is too small.
        """
        return self._ask([partition], OFFSET_END)[partition]

    def firsts(self, partitions: Iterable[int]) -> dict[int, int]:
        """Return the first offset that each of these partitions still holds; BrokerFault as above."""
        return self._ask(partitions, OFFSET_BEGINNING)

    def close(self) -> None:
        """Leave the broker."""
        self._consumer.close()

    def _ask(self, partitions: Iterable[int], which: int) -> dict[int, int]:
        try:
            return ask_offsets(self._consumer, self._topic, partitions, which)
        except KafkaException as exception:
            raise BrokerFault(
                f"Kafka does not tell where topic {self._topic} begins and ends: {error_of(exception).str()}; "
                "look at the broker's log"
            ) from exception

    def _record(self, message: Message) -> Record | None:
        partition, offset, error = message.partition(), message.offset(), message.error()
        assert partition is not None
        if error is not None:
            if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001
                raise self._fault(message, error)
            assert offset is not None
            self._at_end.add(partition)
            self._next_offsets[partition] = offset
            return None
        assert offset is not None
        self._at_end.discard(partition)
        self._next_offsets[partition] = offset + 1
        return record_of(self._topic, message)

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
        "group.id": reader_group(settings),
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
