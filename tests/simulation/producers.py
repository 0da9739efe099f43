"""The producers of the simulated broker: a plain one, and one of transactions."""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from confluent_kafka import KafkaError

from services.ledger.wire import REPLIES
from tests.simulation import fibers
from tests.simulation.broker import Entry, FencedOff, Partition
from tests.simulation.fibers import Signal
from tests.simulation.life import current
from tests.simulation.wire import IDLE_SECONDS, TIMED_OUT, Message, Wire, failure, refuse_too_large

Report = Callable[[KafkaError | None, Message], None]
FENCED = KafkaError._FENCED


class PlainProducer:
    """Lands records one after the other; what is on the wire when its process dies may land or not."""

    def __init__(self, wire: Wire, config: dict[str, Any]) -> None:
        self._wire, self._chaos = wire, wire.chaos
        self._life = current()
        self._timeout = config["delivery.timeout.ms"] / 1000
        self._lands_at = self._heard_at = 0.0
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
        wire = self._wire
        entry = wire.broker.entry(key.encode(), bytes(value), list(headers))
        refuse_too_large(entry)
        known = wire.broker.partitions(topic)
        if known and partition not in known:
            raise failure(KafkaError._UNKNOWN_PARTITION, "simulated: no such partition")
        self._lands_at = max(self._lands_at, wire.loop.time() + self._chaos.latency())
        gives_up_at = wire.loop.time() + self._timeout
        wire.at(self._lands_at, lambda: self._land(topic, partition, entry, on_delivery, gives_up_at))

    def poll(self, timeout: float) -> int:
        """Serve reports, waiting for the first of them."""
        self._life.check()
        if not self._reports and timeout > 0:
            self._reported.wait_idly(max(timeout, IDLE_SECONDS))
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
        wire, broker, chaos = self._wire, self._wire.broker, self._chaos
        if not self._life.alive and chaos.random.random() < 0.5:
            return
        if broker.down:
            if broker.up_again_at >= gives_up_at:
                self._fail(report, topic, partition, gives_up_at - wire.loop.time())
            else:
                wire.at(broker.up_again_at, lambda: self._land(topic, partition, entry, report, gives_up_at))
            return
        target = broker.partitions(topic).get(partition)
        if target is None:
            self._fail(report, topic, partition, 0.0, KafkaError.UNKNOWN_TOPIC_OR_PART)
            return
        if topic.endswith(".replies"):
            self._land_reply(target, entry)
            self._say(report, None, Message(topic, partition, 0, entry), 0.001)
            return
        if topic.endswith(".commands") and chaos.strikes("command_late", entry.value):
            self._land_late(topic, target, entry)
            self._fail(report, topic, partition, chaos.random.uniform(0.1, 1.0))
            return
        lost = topic.endswith(".commands") and (
            chaos.strikes("command_not_landed", entry.value) or wire.rough.loses_sign(self._life, entry.value)
        )
        offset = None if lost else target.append(entry)
        if topic.endswith(".commands") and (seconds := wire.rough.repeated_after(entry.value)):
            wire.later(seconds, partial(self._append, target, entry))
        if offset is None or (topic.endswith(".commands") and chaos.strikes("command_unacknowledged", entry.value)):
            self._fail(report, topic, partition, chaos.random.uniform(1.0, 5.0))
        else:
            heard_at = max(self._heard_at, wire.loop.time() + chaos.random.uniform(0.0005, 0.005))
            self._heard_at = heard_at  # acknowledgements come in order
            self._say(report, None, Message(topic, partition, offset, entry), heard_at - wire.loop.time())

    def _land_late(self, topic: str, target: Partition, entry: Entry) -> None:
        """Land within nine seconds; often at the worst moment, when a task was just sent that nobody claimed."""
        wire, random, waits = self._wire, self._chaos.random, [entry]

        def land() -> None:
            while waits:
                target.append(waits.pop())

        def at_the_next_task() -> None:
            for partition in wire.broker.partitions(topic.removesuffix("commands") + "tasks.workflow").values():
                partition.written.then(land)

        wire.later(random.uniform(1.0, 9.0), land)
        if random.random() < 0.7:
            wire.later(random.uniform(0.2, 2.0), at_the_next_task)

    def _land_reply(self, target: Partition, entry: Entry) -> None:
        """Replies are neither kept nor repeated: some get lost, come twice or come late."""
        self._wire.reply_lands(entry.value)
        chaos, reply = self._chaos, entry.value
        asked_for = bool(REPLIES.decode(reply).command_id)
        if not asked_for and (chaos.strikes("word_lost") or self._wire.rough.loses_word(reply)):
            return
        for _ in range(0 if chaos.strikes("reply_lost", reply) else 2 if chaos.strikes("reply_twice", reply) else 1):
            late = chaos.random.uniform(0.5, 6.0) if chaos.strikes("reply_late", reply) else 0.0
            self._wire.later(late, partial(self._append, target, entry))

    @staticmethod
    def _append(partition: Partition, entry: Entry) -> None:
        partition.append(entry)

    def _fail(
        self, report: Report | None, topic: str, partition: int, wait: float, code: int = KafkaError._MSG_TIMED_OUT
    ) -> None:
        self._say(report, KafkaError(code, "simulated"), Message(topic, partition, None, None), wait)

    def _say(self, report: Report | None, error: KafkaError | None, message: Message, wait: float) -> None:
        def say() -> None:
            self._reports.append((report, error, message))
            self._reported.set()

        self._wire.later(max(0.0, wait), say)


class TransactionalProducer:
    """Keeps the records of a transaction until its commit, as librdkafka's queue does under a small linger."""

    def __init__(self, wire: Wire, config: dict[str, Any]) -> None:
        self._wire, self._broker, self._chaos = wire, wire.broker, wire.chaos
        self._life = current()
        self._name: str = config["transactional.id"]
        self._patience_seconds: float = config["transaction.timeout.ms"] / 1000
        self._epoch = 0
        self._records: deque[tuple[str, int, Entry, Report | None]] = deque()

    def init_transactions(self, timeout: float) -> None:
        """Fence off the others under this id."""
        self._reach(timeout)
        self._epoch = self._broker.initialise(self._name, self._patience_seconds)
        self._wire.call()

    def begin_transaction(self) -> None:
        """Begin, which is a local matter."""
        self._life.check()
        self._records.clear()

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
        entry = self._broker.entry(raw, value, list(headers))
        refuse_too_large(entry)
        self._records.append((topic, partition, entry, on_delivery))

    def poll(self, _timeout: float) -> int:
        """Serve nothing: reports come with the flush."""
        self._life.check()
        return 0

    def commit_transaction(self, timeout: float) -> None:
        """Send what is queued, then ask for the commit: either may fail, with or without effect."""
        self._reach(timeout)
        try:
            self._send()
            self._wire.call()
            if self._chaos.strikes("commit_aborted"):
                self._broker.abort(self._name, self._epoch)
                raise failure(TIMED_OUT, "simulated: aborted")
            self._broker.commit(self._name, self._epoch)
        except FencedOff:
            raise failure(FENCED, "simulated: fenced") from None
        if self._chaos.strikes("commit_unknown"):
            raise failure(TIMED_OUT, "simulated: committed")
        self._wire.call()

    def flush(self, timeout: float) -> int:
        """Send what is queued."""
        if self._records:
            self._reach(timeout)
        self._life.check()
        try:
            self._send()
        except FencedOff:
            raise failure(FENCED, "simulated: fenced") from None
        return 0

    def _send(self) -> None:
        while self._records:
            topic, partition, entry, report = self._records[0]
            if self._chaos.random.random() < 0.2:
                self._wire.call()
            offset = self._broker.write(self._name, self._epoch, topic, partition, entry)
            self._records.popleft()
            if report:
                report(None, Message(topic, partition, offset, entry))

    def _reach(self, timeout: float) -> None:
        """Wait for the broker, and for the markers of the transaction before."""
        self._wire.call()
        deadline = self._wire.loop.time() + timeout
        while self._broker.down or self._broker.finishing(self._name):
            if self._wire.loop.time() >= deadline:
                raise failure(TIMED_OUT, "simulated: no broker")
            fibers.sleep(0.02)
