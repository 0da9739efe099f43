"""The consumer of the simulated broker."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, KafkaError, TopicPartition

from tests.simulation import fibers
from tests.simulation.broker import Entry
from tests.simulation.fibers import Signal
from tests.simulation.life import current
from tests.simulation.wire import DECIDING_FACTOR, IDLE_FACTOR, IDLE_SECONDS, TIMED_OUT, Message, Wire, failure


class Consumer:
    """Reads assigned partitions in turns."""

    def __init__(self, wire: Wire, config: dict[str, Any]) -> None:
        self._wire, self._broker = wire, wire.broker
        self._life = current()
        self._committed = config["isolation.level"] == "read_committed"
        self._idle_factor, self._only_listens = IDLE_FACTOR, False
        self._next: dict[tuple[str, int], int] = {}
        self._told_end: dict[tuple[str, int], int] = {}
        self._changed = Signal()

    def list_topics(self, topic: str, timeout: float = 0) -> Any:
        """Say which partitions a topic has."""
        self._reach(timeout)
        return SimpleNamespace(topics={topic: SimpleNamespace(partitions=dict(self._broker.partitions(topic)))})

    def assign(self, places: Sequence[TopicPartition]) -> None:
        """Read these partitions from these offsets."""
        self._life.check()
        self._next = {(place.topic, place.partition): place.offset for place in places}
        self._told_end.clear()
        if any(place.topic.endswith(".commands") for place in places):
            self._idle_factor = DECIDING_FACTOR
        self._only_listens = all(place.topic.endswith(".replies") for place in places)

    def unassign(self) -> None:
        """Read nothing."""
        self._next.clear()

    def poll(self, timeout: float) -> Message | None:
        """Return the next message, waiting for it."""
        self._life.check()
        message = self._take()
        if message is None and timeout > 0:
            self._wait(timeout)
            message = self._take()
        return message

    def consume(self, most: int, _timeout: float) -> list[Message]:
        """Return what is there."""
        messages: list[Message] = []
        fetched = self._wire.chaos.random.choice((0, 1, 5, most))  # a fetch ends where it ends
        while len(messages) < min(most, fetched) and (message := self._take()) is not None:
            messages.append(message)
        return messages

    def offsets_for_times(self, places: Sequence[TopicPartition], timeout: float = 0) -> list[TopicPartition]:
        """Return the first offsets, or those behind the last records: the only two times that are asked for."""
        self._reach(timeout)
        return [TopicPartition(place.topic, place.partition, self._offset_at(place)) for place in places]

    def close(self) -> None:
        """Leave."""
        self._life.check()

    def _reach(self, timeout: float) -> None:
        self._wire.call()
        if self._broker.down:
            fibers.sleep(min(timeout, max(0.0, self._broker.up_again_at - self._wire.loop.time())))
        if self._broker.down:
            raise failure(TIMED_OUT, "simulated: no broker")

    def _offset_at(self, place: TopicPartition) -> int:
        if place.partition not in self._broker.partitions(place.topic):
            raise failure(KafkaError._UNKNOWN_PARTITION, "simulated: no such partition")
        if place.offset == OFFSET_BEGINNING:
            return 0
        assert place.offset == OFFSET_END
        partition = self._broker.partition(place.topic, place.partition)
        return partition.stable_end if self._committed else partition.end

    def _wait(self, timeout: float) -> None:
        broker = self._broker
        for topic, number in self._next:
            partition = broker.partition(topic, number)
            (partition.changed if self._committed else partition.written).tell(self._changed)
        seconds = max(timeout, IDLE_SECONDS) if self._only_listens else timeout * self._idle_factor
        if broker.down:  # nothing tells when it is there again
            seconds = min(seconds, broker.up_again_at - self._wire.loop.time())
        if self._only_listens:
            self._changed.wait_idly(seconds)
        else:
            self._changed.wait(seconds)

    def _returns(self, entry: Entry) -> bool:
        return entry.readable if self._committed else not entry.marker

    def _take(self) -> Message | None:
        if self._broker.down:
            return None
        for (topic, number), at in self._next.items():
            partition = self._broker.partition(topic, number)
            if at > partition.end:
                return Message(topic, number, at, None, KafkaError(KafkaError._AUTO_OFFSET_RESET, "simulated"))
            end = partition.stable_end if self._committed else partition.end
            while at < end and not self._returns(partition.entries[at]):
                at += 1
            if at < end:
                self._next[topic, number] = at + 1
                self._wire.read(self._life, topic, partition.entries[at].value)
                return Message(topic, number, at, partition.entries[at])
            self._next[topic, number] = at
            if self._told_end.get((topic, number)) != at:
                self._told_end[topic, number] = at
                return Message(topic, number, at, None, KafkaError(KafkaError._PARTITION_EOF, "simulated"))
        return None
