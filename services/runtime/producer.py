"""The plain idempotent producer: what it was given is acknowledged by all replicas, or someone hears that it is not."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Protocol

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, Message

from services.runtime.errors import BrokerFault, NotDelivered, RecordRefused
from services.runtime.kafka import Config, client_config, error_of
from services.runtime.settings import Settings

DELIVERY_SECONDS = 30.0  # a broker that restarts is back within this time
POLL_SECONDS = 0.2
CLOSE_SECONDS = 5.0  # half of what a process has to stop in
JOIN_SECONDS = 2.0
FULL_QUEUE_PAUSE_SECONDS = 0.01
REFUSALS = frozenset(
    {
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.RECORD_LIST_TOO_LARGE,
        KafkaError.INVALID_MSG,
        KafkaError.INVALID_RECORD,
        KafkaError.POLICY_VIOLATION,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001
        KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001
        KafkaError._INVALID_ARG,  # noqa: SLF001
    }
)
Headers = Sequence[tuple[str, bytes]]
Waiter = asyncio.Future[None]


class Sender(Protocol):
    """Puts a record on a partition of a topic and returns once the broker holds it."""

    async def send(self, topic: str, partition: int, key: str, value: bytes, headers: Headers = ()) -> None:
        """Return when acknowledged; raise RecordRefused or NotDelivered otherwise."""


class Producer:
    """Sends records from one event loop (`send`), or from plain threads (`produce`, then `flush`).

    Every record names its partition: the default partitioners of Kafka clients differ from each other.
    """

    def __init__(self, settings: Settings, name: str) -> None:
        self._kafka = confluent_kafka.Producer(_config(settings, name))
        self._thread = threading.Thread(target=self._serve, name=f"{name}-producer", daemon=True)
        self._stopping = threading.Event()
        self._settled = threading.Condition()
        self._outstanding = 0
        self._first_failure: BrokerFault | None = None  # of `produce`; raised by the next produce or flush
        self._broken: BrokerFault | None = None  # the client itself; raised by everything from then on
        self._outcomes: deque[tuple[Waiter, BrokerFault | None]] = deque()

    def start(self) -> None:
        """Begin to serve acknowledgements."""
        self._thread.start()

    def close(self, timeout_seconds: float = CLOSE_SECONDS) -> None:
        """Wait until every record is acknowledged and stop; raise if some are not, or if one had failed unheard."""
        try:
            self.flush(timeout_seconds)
        finally:
            self._kafka.purge()
            self._stopping.set()
            if self._thread.ident is not None:
                self._thread.join(JOIN_SECONDS)

    async def send(self, topic: str, partition: int, key: str, value: bytes, headers: Headers = ()) -> None:
        """Return when the broker has acknowledged the record; a full queue is waited out.

        Raises RecordRefused where the broker will never take it, NotDelivered where it did not acknowledge it
        within DELIVERY_SECONDS: then it may be in the log all the same.
        """
        waiter: Waiter = asyncio.get_running_loop().create_future()
        while not self._enqueue(topic, partition, key, value, headers, waiter):  # noqa: ASYNC110  # it polls C code
            await asyncio.sleep(FULL_QUEUE_PAUSE_SECONDS)
        await waiter

    def produce(self, topic: str, partition: int, key: str, value: bytes, headers: Headers = ()) -> None:
        """Hand over a record; a failure to deliver it is raised by a later produce, flush or close."""
        self._raise_failure()
        while not self._enqueue(topic, partition, key, value, headers, None):
            with self._settled:
                self._settled.wait(FULL_QUEUE_PAUSE_SECONDS)

    def flush(self, timeout_seconds: float = DELIVERY_SECONDS) -> None:
        """Return when everything handed over is acknowledged; raise what failed, or NotDelivered at the deadline."""
        deadline = time.monotonic() + timeout_seconds
        with self._settled:
            done = self._settled.wait_for(lambda: self._outstanding == 0, max(0.0, deadline - time.monotonic()))
            left = self._outstanding
        self._raise_failure()
        if not done:
            raise NotDelivered(f"{left} records not acknowledged within {timeout_seconds:g} s: is the broker up?")

    def _enqueue(
        self, topic: str, partition: int, key: str, value: bytes, headers: Headers, waiter: Waiter | None
    ) -> bool:
        """Hand a record to librdkafka; False: its queue is full."""
        if self._broken:
            raise self._broken
        if self._stopping.is_set():
            raise BrokerFault("this producer is closed: send before close()")
        with self._settled:
            self._outstanding += 1
        try:
            self._kafka.produce(
                topic, value, key, partition, on_delivery=partial(self._acknowledged, waiter), headers=list(headers)
            )
        except BufferError:
            self._one_less()
            return False
        except KafkaException as exception:
            self._one_less()
            raise _fault(error_of(exception), topic, partition) from exception
        return True

    def _acknowledged(self, waiter: Waiter | None, error: KafkaError | None, message: Message) -> None:
        fault = _fault(error, message.topic(), message.partition()) if error else None
        if waiter is not None:
            self._outcomes.append((waiter, fault))
        elif fault and not self._first_failure:
            self._first_failure = fault
        self._one_less()

    def _one_less(self) -> None:
        with self._settled:
            self._outstanding -= 1
            if self._outstanding == 0 or self._first_failure:
                self._settled.notify_all()

    def _raise_failure(self) -> None:
        if self._broken:
            raise self._broken
        if self._first_failure:
            failure, self._first_failure = self._first_failure, None
            raise failure

    def _serve(self) -> None:
        """Run in the thread: serve acknowledgements, and wake their awaiters once per round, not once per record."""
        while not (self._stopping.is_set() and not self._outstanding):
            try:
                self._kafka.poll(POLL_SECONDS)
            except BrokerFault as fault:
                self._broken = fault
            if self._outcomes:
                batch = [self._outcomes.popleft() for _ in range(len(self._outcomes))]
                loop = batch[0][0].get_loop()
                if not loop.is_closed():
                    loop.call_soon_threadsafe(_settle, batch)


def _settle(batch: list[tuple[Waiter, BrokerFault | None]]) -> None:
    for waiter, fault in batch:
        if waiter.done():
            continue  # its awaiter was cancelled
        if fault:
            waiter.set_exception(fault)
        else:
            waiter.set_result(None)


def _fault(error: KafkaError, topic: str | None, partition: int | None) -> BrokerFault:
    place = f"record for topic {topic}, partition {partition}"
    if error.code() in REFUSALS:
        return RecordRefused(f"{place} refused: {error.name()}: {error.str()}")
    return NotDelivered(f"{place} not acknowledged: {error.name()}: {error.str()}; it may be there, send it again")


def _config(settings: Settings, name: str) -> Config:
    return client_config(settings, name) | {
        "enable.idempotence": True,
        "acks": "all",
        "linger.ms": 5,
        "topic.metadata.propagation.max.ms": 5000,  # a topic still unknown after that refuses its records
        "delivery.timeout.ms": int(DELIVERY_SECONDS * 1000),
        "queue.buffering.max.messages": 100_000,
        "queue.buffering.max.kbytes": 131_072,
    }
