"""The clients of the simulated broker, with the part of confluent_kafka's interface that the runtime uses."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from tests.simulation import fibers
from tests.simulation.broker import Broker, Entry, FencedOff, Partition
from tests.simulation.fibers import Signal
from tests.simulation.life import as_the_world, current

IDLE_FACTOR = 5  # what only waits to be told to stop is woken less often: time is cheap here, steps are not
Report = Callable[[KafkaError | None, "Message"], None]
FENCED = KafkaError._FENCED
TIMED_OUT = KafkaError._TIMED_OUT


def failure(code: int, reason: str) -> KafkaException:
    """Return what librdkafka raises."""
    return KafkaException(KafkaError(code, reason))


class Message:
    """A record, or an error in its place."""

    def __init__(self, topic: str, partition: int, offset: int, entry: Entry | None, error: KafkaError | None = None):
        self._place = (topic, partition, offset)
        self._entry, self._error = entry, error

    def topic(self) -> str:
        """Topic."""
        return self._place[0]

    def partition(self) -> int:
        """Partition."""
        return self._place[1]

    def offset(self) -> int:
        """Offset."""
        return self._place[2]

    def error(self) -> KafkaError | None:
        """Error in place of a record."""
        return self._error

    def key(self) -> bytes:
        """Key."""
        return self._entry.key if self._entry else b""

    def value(self) -> bytes:
        """Value."""
        return self._entry.value if self._entry else b""

    def headers(self) -> list[tuple[str, bytes]]:
        """Headers."""
        return list(self._entry.headers) if self._entry else []

    def timestamp(self) -> tuple[int, int]:
        """Kind and milliseconds."""
        return 1, self._entry.timestamp_ms if self._entry else 0


class Clients:
    """Makes clients of one broker; `Producer` and `Consumer` stand for the classes of confluent_kafka."""

    def __init__(self, broker: Broker, loop: asyncio.AbstractEventLoop) -> None:
        self.broker, self.loop, self.chaos = broker, loop, broker.chaos
        self.reply_lands: Callable[[bytes], None] = lambda _value: None

    def producer(self, config: dict[str, Any]) -> "PlainProducer | TransactionalProducer":
        """Stand for `confluent_kafka.Producer`."""
        return TransactionalProducer(self, config) if "transactional.id" in config else PlainProducer(self, config)

    def consumer(self, config: dict[str, Any]) -> "Consumer":
        """Stand for `confluent_kafka.Consumer`."""
        return Consumer(self, config)

    def call(self) -> None:
        """Take the time of one call in a fiber."""
        fibers.sleep(self.chaos.latency())

    def later(self, seconds: float, work: Callable[[], None]) -> None:
        """Do something later, whether or not the process still runs."""
        as_the_world(lambda: self.loop.call_later(seconds, work))


class PlainProducer:
    """Lands records one after the other; what is on the wire when its process dies may land or not."""

    def __init__(self, clients: Clients, config: dict[str, Any]) -> None:
        self._clients, self._chaos = clients, clients.chaos
        self._life = current()
        self._timeout = config["delivery.timeout.ms"] / 1000
        self._lands_at = 0.0
        self._reports: deque[tuple[Report | None, KafkaError | None, Message]] = deque()
        self._reported = Signal()

    def produce(
        self,
        topic: str,
        value: bytes,
        key: str,
        partition: int,
        on_delivery: Report | None = None,
        headers: Sequence[tuple[str, bytes]] = (),
    ) -> None:
        """Put a record on the wire."""
        self._life.check()
        clients = self._clients
        entry = clients.broker.entry(key.encode(), bytes(value), list(headers))
        self._lands_at = max(self._lands_at, clients.loop.time() + self._chaos.latency())
        gives_up_at = clients.loop.time() + self._timeout
        clients.later(
            self._lands_at - clients.loop.time(), lambda: self._land(topic, partition, entry, on_delivery, gives_up_at)
        )

    def poll(self, timeout: float) -> int:
        """Serve reports, waiting for the first of them."""
        self._life.check()
        if not self._reports:
            self._reported.wait(timeout * IDLE_FACTOR)
        served = 0
        while self._reports:
            report, error, message = self._reports.popleft()
            if report:
                report(error, message)
            served += 1
        return served

    def purge(self) -> None:
        """Forget what has not landed."""

    def _land(self, topic: str, partition: int, entry: Entry, report: Report | None, gives_up_at: float) -> None:
        clients, broker, chaos = self._clients, self._clients.broker, self._chaos
        if not self._life.alive and chaos.random.random() < 0.5:
            return
        if broker.down:
            if broker.up_again_at >= gives_up_at:
                self._say(report, topic, partition, -1, gives_up_at - clients.loop.time(), lost=True)
            else:
                wait = broker.up_again_at - clients.loop.time() + 0.001
                clients.later(wait, lambda: self._land(topic, partition, entry, report, gives_up_at))
            return
        target = broker.partition(topic, partition)
        if topic.endswith(".replies"):
            self._land_reply(target, entry)
            self._say(report, topic, partition, 0, 0.001)
            return
        if topic.endswith(".commands") and chaos.strikes("command_late"):
            clients.later(chaos.random.uniform(1.0, 9.0), lambda: self._append(target, entry))
            self._say(report, topic, partition, -1, chaos.random.uniform(0.1, 1.0), lost=True)
            return
        lost = topic.endswith(".commands") and chaos.strikes("command_not_landed")
        offset = -1 if lost else target.append(entry)
        unheard = lost or (topic.endswith(".commands") and chaos.strikes("command_unacknowledged"))
        wait = chaos.random.uniform(1.0, 5.0) if unheard else chaos.random.uniform(0.0005, 0.005)
        self._say(report, topic, partition, offset, wait, lost=unheard)

    def _land_reply(self, target: Partition, entry: Entry) -> None:
        """Replies are neither kept nor repeated: some get lost, come twice or come late."""
        self._clients.reply_lands(entry.value)
        for _ in range(0 if self._chaos.strikes("reply_lost") else 2 if self._chaos.strikes("reply_twice") else 1):
            late = self._chaos.random.uniform(0.5, 6.0) if self._chaos.strikes("reply_late") else 0.0
            self._clients.later(late, partial(self._append, target, entry))

    @staticmethod
    def _append(partition: Partition, entry: Entry) -> None:
        partition.append(entry)

    def _say(
        self, report: Report | None, topic: str, partition: int, offset: int, wait: float, *, lost: bool = False
    ) -> None:
        error = KafkaError(KafkaError._MSG_TIMED_OUT, "simulated") if lost else None

        def say() -> None:
            self._reports.append((report, error, Message(topic, partition, offset, None)))
            self._reported.set()

        self._clients.later(max(0.0, wait), say)


class TransactionalProducer:
    """Keeps the records of a transaction until its commit, as librdkafka's queue does under a small linger."""

    def __init__(self, clients: Clients, config: dict[str, Any]) -> None:
        self._clients, self._broker, self._chaos = clients, clients.broker, clients.chaos
        self._life = current()
        self._name: str = config["transactional.id"]
        self._epoch = 0
        self._records: list[tuple[str, int, Entry, Report | None]] = []

    def init_transactions(self, timeout: float) -> None:
        """Fence off the others under this id."""
        self._reach(timeout)
        self._epoch = self._broker.initialise(self._name)
        self._clients.call()

    def begin_transaction(self) -> None:
        """Begin, which is a local matter."""
        self._life.check()
        self._records = []

    def produce(
        self,
        topic: str,
        value: bytes | None,
        key: str | bytes,
        partition: int,
        on_delivery: Report | None = None,
        headers: Sequence[tuple[str, Any]] = (),
    ) -> None:
        """Queue a record."""
        self._life.check()
        raw = key.encode() if isinstance(key, str) else key
        self._records.append(
            (topic, partition, self._broker.entry(raw, bytes(value or b""), list(headers)), on_delivery)
        )

    def poll(self, _timeout: float) -> int:
        """Serve nothing: reports come with the flush."""
        self._life.check()
        return 0

    def commit_transaction(self, timeout: float) -> None:
        """Send what is queued, then ask for the commit: either may fail, with or without effect."""
        self._reach(timeout)
        try:
            for topic, partition, entry, report in self._records:
                if self._chaos.random.random() < 0.2:
                    self._clients.call()
                offset = self._broker.write(self._name, self._epoch, topic, partition, entry)
                if report:
                    report(None, Message(topic, partition, offset, entry))
            self._clients.call()
            if self._chaos.strikes("commit_aborted"):
                self._broker.abort(self._name, self._epoch)
                raise failure(TIMED_OUT, "simulated: aborted")
            self._broker.commit(self._name, self._epoch)
        except FencedOff:
            raise failure(FENCED, "simulated: fenced") from None
        if self._chaos.strikes("commit_unknown"):
            raise failure(TIMED_OUT, "simulated: committed")
        self._clients.call()

    def flush(self, _timeout: float) -> int:
        """Everything has landed with the commit."""
        self._life.check()
        return 0

    def _reach(self, timeout: float) -> None:
        """Wait for the broker, and for the markers of the transaction before."""
        self._clients.call()
        deadline = self._clients.loop.time() + timeout
        while self._broker.down or self._broker.finishing(self._name):
            if self._clients.loop.time() >= deadline:
                raise failure(TIMED_OUT, "simulated: no broker")
            fibers.sleep(0.02)


class Consumer:
    """Reads assigned partitions in turns."""

    def __init__(self, clients: Clients, config: dict[str, Any]) -> None:
        self._clients, self._broker = clients, clients.broker
        self._life = current()
        self._committed = config["isolation.level"] == "read_committed"
        self._idle_factor = IDLE_FACTOR
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
        if any(place.topic.endswith(".commands") for place in places):
            self._idle_factor = 1  # the decider's timers depend on it

    def poll(self, timeout: float) -> Message | None:
        """Return the next message, waiting for it."""
        self._life.check()
        message = self._take()
        if message is None and timeout > 0:
            self._watch()
            self._changed.wait(timeout * self._idle_factor)
            message = self._take()
        return message

    def consume(self, most: int, _timeout: float) -> list[Message]:
        """Return what is there."""
        messages: list[Message] = []
        fetched = self._clients.chaos.random.choice((0, 1, 5, most))  # a fetch ends where it ends
        while len(messages) < min(most, fetched) and (message := self._take()) is not None:
            messages.append(message)
        return messages

    def get_watermark_offsets(self, place: TopicPartition, timeout: float = 0) -> tuple[int, int]:
        """Return the first offset and the one behind the last record."""
        self._reach(timeout)
        partition = self._broker.partition(place.topic, place.partition)
        return 0, partition.stable_end if self._committed else partition.end

    def close(self) -> None:
        """Leave."""
        self._life.check()

    def _reach(self, timeout: float) -> None:
        self._clients.call()
        if self._broker.down:
            fibers.sleep(min(timeout, max(0.0, self._broker.up_again_at - self._clients.loop.time())))
        if self._broker.down:
            raise failure(TIMED_OUT, "simulated: no broker")

    def _watch(self) -> None:
        for topic, number in self._next:
            self._broker.partition(topic, number).changed.tell(self._changed)

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
                return Message(topic, number, at, partition.entries[at])
            self._next[topic, number] = at
            if self._told_end.get((topic, number)) != at:
                self._told_end[topic, number] = at
                return Message(topic, number, at, None, KafkaError(KafkaError._PARTITION_EOF, "simulated"))
        return None
