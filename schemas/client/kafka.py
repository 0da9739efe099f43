"""Where the client gets its records: partitions of its own choice, or those that a consumer group gives it.

Committed records only. An offset that is not in the log stops the reader, in place of a silent jump.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Protocol

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition

from schemas.client.checkpoint import Checkpoint
from schemas.client.errors import BadCheckpoint, KafkaFault, RegistryAway
from schemas.client.finding import offset_behind
from schemas.record import Record, record_of
from schemas.strangers import Read, SchemaLost, Stranger, claim_of, is_fence

ALONE = "jobledger-consumer"  # librdkafka wants the name of a group; assign() never joins it
ANSWER_SECONDS = 10.0
LOOK_SECONDS = 30.0
PAUSE_SECONDS = 0.5  # between two questions to a registry that is away
OURS: Mapping[str, Any] = {
    "isolation.level": "read_committed",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    "enable.partition.eof": True,
    "partition.assignment.strategy": "range,roundrobin",  # `assign` below takes no increments
}
DEFAULTS: Mapping[str, Any] = {"client.id": "jobledger-consumer", "fetch.queue.backoff.ms": 5, "check.crcs": True}
LEFT_BEHIND = frozenset(  # what a commit is answered whose partition has gone to another member
    {KafkaError.ILLEGAL_GENERATION, KafkaError.UNKNOWN_MEMBER_ID, KafkaError.REBALANCE_IN_PROGRESS}
)

log = logging.getLogger(__name__)
Begin = Callable[[Iterable[Checkpoint]], None]
LetGo = Callable[[Collection[int]], None]


class Source(Protocol):
    """What a reader needs of Kafka; an Assigned and a Grouped are ones."""

    def open(self, begin: Begin, let_go: LetGo) -> None:
        """Begin to read, and say which partitions come and go from here on."""

    def poll(self, max_records: int, timeout_seconds: float) -> list[Record]:
        """Return the next committed records, [] if there are none in time; raise KafkaFault."""

    def ends(self) -> dict[int, tuple[int, int]]:
        """Return by partition where reading goes on, and the end of the log."""

    def at_end(self) -> bool:
        """Whether every partition had been read to its end when it was last looked at."""

    def commit(self, checkpoints: Iterable[Checkpoint]) -> None:
        """Commit checkpoints to the group."""

    def close(self) -> None:
        """Leave the broker."""


class _Consuming:
    """What both sources have in common."""

    def __init__(self, kafka: Mapping[str, Any], topic: str, group: str) -> None:
        self._topic = topic
        self._consumer = Consumer({**DEFAULTS, **kafka, **OURS, "group.id": group})
        self._next_offsets: dict[int, int] = {}  # of the partitions that are read
        self._at_end: set[int] = set()

    def poll(self, max_records: int, timeout_seconds: float) -> list[Record]:
        """Return the next committed records, [] if there are none in time; raise KafkaFault."""
        try:
            first = self._consumer.poll(timeout_seconds)
            if first is None:
                return []
            rest = self._consumer.consume(max_records - 1, 0) if max_records > 1 else []
        except KafkaException as exception:
            raise self._fault(exception.args[0]) from exception
        return [record for message in (first, *rest) if (record := self._record(message))]

    def ends(self) -> dict[int, tuple[int, int]]:
        """Return by partition where reading goes on, and the end of the log."""
        ends = self._ask(self._next_offsets, OFFSET_END)
        return {each: (max(at, 0), max(end, at)) for each, at in self._next_offsets.items() if (end := ends[each]) >= 0}

    def at_end(self) -> bool:
        """Whether every partition had been read to its end when it was last looked at."""
        return bool(self._next_offsets) and self._at_end >= self._next_offsets.keys()

    def close(self) -> None:
        """Leave the broker."""
        self._consumer.close()

    def _assign(self, offsets: Mapping[int, int]) -> None:
        self._next_offsets, self._at_end = dict(offsets), set()
        self._consumer.assign([TopicPartition(self._topic, each, offset) for each, offset in offsets.items()])

    def _ask(self, partitions: Iterable[int], which: int) -> dict[int, int]:
        """Return first offsets or committed ends: a question for times, which takes both for times."""
        try:
            told = self._consumer.offsets_for_times(
                [TopicPartition(self._topic, each, which) for each in partitions], timeout=ANSWER_SECONDS
            )
        except KafkaException as exception:
            raise self._fault(exception.args[0]) from exception
        return {place.partition: place.offset for place in told}

    def _record(self, message: Any) -> Record | None:
        partition, error = message.partition(), message.error()
        if error is None:
            self._at_end.discard(partition)
            self._next_offsets[partition] = message.offset() + 1
            return record_of(self._topic, message)
        if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001
            raise self._fault(error, f", partition {partition}, offset {message.offset()}")
        if partition in self._next_offsets:
            self._at_end.add(partition)
            self._next_offsets[partition] = message.offset()
        return None

    def _fault(self, error: KafkaError, where: str = "") -> KafkaFault:
        hint = (
            "records were deleted, or the checkpoint belongs to another log: begin without it, into an empty store"
            if error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)  # noqa: SLF001
            else "see the broker's log and the rights on the topic"
        )
        return KafkaFault(f"topic {self._topic}{where}: {error.name()}: {error.str()}; {hint}")


class Assigned(_Consuming):
    """Partitions of one's own choice, from checkpoints of one's own store."""

    def __init__(
        self,
        kafka: Mapping[str, Any],
        topic: str,
        read: Read,
        starts: Collection[Checkpoint],
        partitions: Collection[int] | None,
    ) -> None:
        super().__init__(kafka, topic, ALONE)
        self._kafka, self._read, self._partitions = kafka, read, partitions
        self._starts = {each.partition: each for each in starts}

    def open(self, begin: Begin, let_go: LetGo) -> None:
        """Begin to read."""
        there = self._there()
        chosen = there if self._partitions is None else set(self._partitions)
        if absent := sorted((chosen | self._starts.keys()) - there):
            raise KafkaFault(f"topic {self._topic} has no partition {absent[0]}: it has {len(there)}")
        starts = [self._found(self._starts.get(each, Checkpoint(each))) for each in sorted(chosen)]
        self._assign({start.partition: start.next_offset or 0 for start in starts})
        begin(starts)

    def commit(self, checkpoints: Iterable[Checkpoint]) -> None:
        """Say that there is no group."""
        raise TypeError("this reader is in no group: store the checkpoints of the batch with what was made of it")

    def _there(self) -> set[int]:
        try:
            topic = self._consumer.list_topics(self._topic, timeout=ANSWER_SECONDS).topics[self._topic]
        except KafkaException as exception:
            raise self._fault(exception.args[0]) from exception
        if not topic.partitions:
            raise KafkaFault(f"there is no topic {self._topic}: is it the one that jobledger writes (<prefix>.events)?")
        return set(topic.partitions)

    def _found(self, start: Checkpoint) -> Checkpoint:
        """Return the checkpoint with an offset, which is looked for where nobody knows it."""
        if start.next_offset is not None:
            return start
        looking = _Looking(self._kafka, self._topic, start.partition, self._read)
        try:
            offset = offset_behind(start.position or 0, looking.first(), looking.end(), looking.event_behind)
        finally:
            looking.close()
        return Checkpoint(start.partition, start.position, offset, start.taken)


class _Looking(_Consuming):
    """Jumps about in a partition: a fetch that the broker holds back would hold back the next jump too."""

    def __init__(self, kafka: Mapping[str, Any], topic: str, partition: int, read: Read) -> None:
        super().__init__({**kafka, "fetch.wait.max.ms": 5}, topic, ALONE)
        self._partition, self._read = partition, read

    def first(self) -> int:
        """Return the first offset that the log still holds."""
        return self._told(OFFSET_BEGINNING)

    def end(self) -> int:
        """Return the committed end of the log."""
        return self._told(OFFSET_END)

    def _told(self, which: int) -> int:
        """Ask until the broker tells, as it does not while it elects a leader: a search from nowhere finds nowhere."""
        deadline = time.monotonic() + LOOK_SECONDS
        while (offset := self._ask([self._partition], which)[self._partition]) < 0:
            if time.monotonic() >= deadline:
                raise KafkaFault(f"topic {self._topic}, partition {self._partition}: Kafka does not tell where it ends")
            time.sleep(PAUSE_SECONDS)
        return offset

    def event_behind(self, offset: int) -> tuple[int, int] | None:
        """Return offset and position of the first event at or behind an offset."""
        self._assign({self._partition: offset})
        deadline = time.monotonic() + LOOK_SECONDS
        while time.monotonic() < deadline:
            for record in self.poll(1, 0.5):
                try:
                    if not is_fence(record):
                        return record.offset, claim_of(record, self._read).position
                except (Stranger, SchemaLost):
                    continue
                except RegistryAway as away:
                    log.warning("waiting for the schema registry", extra={"reason": str(away)})
                    time.sleep(PAUSE_SECONDS)
                    self._assign({self._partition: record.offset})
            if self.at_end():
                return None
        raise KafkaFault(
            f"topic {self._topic}, partition {self._partition}: nothing to be read for {LOOK_SECONDS:g} s; "
            "see whether Kafka and the schema registry answer"
        )


class Grouped(_Consuming):
    """The partitions that a group gives to this member. A committed offset carries its checkpoint as metadata."""

    def __init__(self, kafka: Mapping[str, Any], topic: str, group: str) -> None:
        super().__init__(kafka, topic, group)

    def open(self, begin: Begin, let_go: LetGo) -> None:
        """Join the group; partitions come while polling."""

        def assigned(_: Consumer, places: list[TopicPartition]) -> None:
            starts = [_committed(place) for place in self._consumer.committed(places, timeout=ANSWER_SECONDS)]
            begin(starts)
            self._assign({start.partition: start.next_offset or OFFSET_BEGINNING for start in starts})

        def revoked(_: Consumer, places: list[TopicPartition]) -> None:
            let_go({place.partition for place in places})
            self._next_offsets, self._at_end = {}, set()
            self._consumer.unassign()

        self._consumer.subscribe([self._topic], on_assign=assigned, on_revoke=revoked, on_lost=revoked)

    def commit(self, checkpoints: Iterable[Checkpoint]) -> None:
        """Commit checkpoints to the group; a partition that is another member's meanwhile is that one's to commit."""
        places = [TopicPartition(self._topic, c.partition, c.next_offset or 0, metadata=str(c)) for c in checkpoints]
        try:
            if places:
                self._consumer.commit(offsets=places, asynchronous=False)
        except KafkaException as exception:
            if exception.args[0].code() not in LEFT_BEHIND:
                raise self._fault(exception.args[0]) from exception
            log.warning("not committed: the partitions were given to another member of the group")


def _committed(place: TopicPartition) -> Checkpoint:
    """Return the checkpoint that was committed; of an offset that somebody else set, nobody knows the position."""
    if place.offset < 0:
        return Checkpoint(place.partition)
    try:
        checkpoint = Checkpoint.parse(place.metadata or "")
    except BadCheckpoint:
        return Checkpoint(place.partition, None, place.offset)
    fits = (checkpoint.partition, checkpoint.next_offset) == (place.partition, place.offset)
    return checkpoint if fits else Checkpoint(place.partition, None, place.offset)
