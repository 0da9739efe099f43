"""The only writer of a ledger partition: one Kafka transaction a batch, fenced against every other writer.

Two transactional ids take turns, because the coordinator still writes the markers of the last transaction while
the next one begins (docs/adr/0001). Both are fenced off before anything is written, and a transaction begins only
after the one before has committed, so at most one is ever open.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from msgspec import Struct

from services.runtime.errors import Fenced
from services.runtime.kafka import client_config
from services.runtime.settings import Settings
from services.runtime.topics import transactional_id

IDS = 2
INIT_TIMEOUT_SECONDS = 30
COMMIT_TIMEOUT_SECONDS = 30
TRANSACTION_TIMEOUT_MS = 10_000
# A poll lets go of the interpreter, and waits up to 5 ms (sys.getswitchinterval) until another partition gives it back.
RECORDS_A_POLL = 1000
# Position 0 lies before every event: readers drop a fence as they drop any record that they have already folded.
FENCE_HEADERS: list[tuple[str, str | bytes | None]] = [("ce_type", b"jobledger.WriterFence"), ("ledger-position", b"0")]


class Outgoing(Struct, frozen=True, gc=False):
    """A record to be written."""

    topic: str
    partition: int
    key: str
    value: bytes
    headers: Sequence[tuple[str, bytes]] = ()


class PartitionTransactions:
    """Writes batches of records atomically on behalf of one ledger partition.

    Every failure raises Fenced: what became of the transaction is then unknown, so the process has to end at once
    and begin again by reading the log.
    """

    def __init__(self, settings: Settings, partition: int) -> None:
        self._producers = [Producer(_config(settings, partition, turn)) for turn in range(IDS)]
        self._turn = 0

    def open(self) -> None:
        """Fence off every earlier writer of the partition and end the transaction it may have left open."""
        try:
            with ThreadPoolExecutor(IDS) as pool:  # side by side: each may wait for a dead transaction to be aborted
                list(pool.map(lambda producer: producer.init_transactions(INIT_TIMEOUT_SECONDS), self._producers))
        except KafkaException as exception:
            _leave(exception)

    def close(self) -> None:
        """Let go of the broker. Never after Fenced: a fenced producer may hang in any further call."""
        self._producers.clear()  # librdkafka's producers end when nothing refers to them

    def fence(self, topic: str, partition: int) -> int:
        """Write a committed record without a value and return its offset: before it, nothing can change any more."""
        offsets: list[int] = []

        def landed(error: KafkaError | None, message: Message) -> None:
            if error is None and (offset := message.offset()) is not None:
                offsets.append(offset)

        producer = self._producers[0]
        try:
            producer.begin_transaction()
            producer.produce(topic, None, b"", partition, on_delivery=landed, headers=FENCE_HEADERS)
            producer.commit_transaction(COMMIT_TIMEOUT_SECONDS)
            producer.flush(COMMIT_TIMEOUT_SECONDS)
        except (KafkaException, BufferError) as exception:
            _leave(exception)
        if not offsets:
            raise Fenced(f"the fence of {topic} partition {partition} was not confirmed; start again")
        return offsets[0]

    def write(self, records: Sequence[Outgoing]) -> None:
        """Write all of these records, or none; readers may see them only some milliseconds after the return."""
        producer = self._producers[self._turn]
        self._turn = (self._turn + 1) % IDS
        try:
            producer.begin_transaction()
            for number, record in enumerate(records):
                if number % RECORDS_A_POLL == 0:
                    producer.poll(0)
                producer.produce(record.topic, record.value, record.key, record.partition, headers=list(record.headers))
            producer.commit_transaction(COMMIT_TIMEOUT_SECONDS)
        except (KafkaException, BufferError) as exception:
            _leave(exception)


def _config(settings: Settings, partition: int, turn: int) -> dict[str, object]:
    name = f"decider-{partition}-{turn}"
    return client_config(settings, name) | {
        "transactional.id": transactional_id(settings, name),
        "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
        "message.timeout.ms": TRANSACTION_TIMEOUT_MS,
        "linger.ms": 5,
        "queue.buffering.max.messages": 500_000,
        "delivery.report.only.error": False,
    }


def _leave(exception: Exception) -> NoReturn:
    raise Fenced(f"a transaction failed: {exception}; leave the process and start again from the log") from exception
