"""A Faust app under test: what its agent took, and which records it may finish."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from confluent_kafka import Consumer, Producer, TopicPartition

from services.runtime.reader import Record
from services.runtime.settings import Settings
from services.runtime.topics import partition_of_org, tasks
from services.streams import watch
from services.streams.acks import Done
from services.streams.app import StreamApp, running
from services.workers.app import worker_app
from tests.conftest import TEST_PARTITIONS

KIND = "workflow"


class Taking:
    """Handles records: done at once, unless `hold` says otherwise."""

    def __init__(self, hold: Callable[[Record], bool] = lambda _record: False) -> None:
        self.hold = hold
        self.taken: list[tuple[int, int, bytes]] = []  # partition, offset, value
        self.loop = watch.Taking()
        self.held: list[Done] = []
        self.fault: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def handle(self, record: Record, done: Done) -> None:
        """Take a record."""
        self.taken.append((record.partition, record.offset, record.value))
        if self.hold(record):
            self.held.append(done)
        else:
            done()

    def finish(self) -> None:
        """Let what was held be done."""
        for done in self.held:
            done()

    def values(self) -> list[bytes]:
        """Return the values taken, in order."""
        return [value for _, _, value in self.taken]


@contextlib.asynccontextmanager
async def consuming(settings: Settings, taking: Taking) -> AsyncIterator[StreamApp]:
    """Run a worker's app with this handler."""
    app = worker_app(settings, KIND, taking.handle, taking.fault, taking.loop)
    async with running(app):
        yield app


class Transactions:
    """A transactional producer on the topic of tasks."""

    def __init__(self, settings: Settings) -> None:
        self._topic = tasks(settings, KIND)
        self._kafka = Producer({"bootstrap.servers": settings.kafka, "transactional.id": f"{settings.topic_prefix}-tx"})
        self._kafka.init_transactions()

    def put(self, *values: bytes, partition: int | None = 0, commit: bool = True) -> None:
        """Put values on a partition in one transaction; None: each on the partition of the org that it names."""
        self._kafka.begin_transaction()
        for value in values:
            place = partition_of_org(value.decode(), TEST_PARTITIONS) if partition is None else partition
            self._kafka.produce(self._topic, value, b"org-1", place)
        self._kafka.flush()
        if commit:
            self._kafka.commit_transaction()
        else:
            self._kafka.abort_transaction()


def committed(settings: Settings, partition: int = 0) -> int:
    """Return the offset that the group has committed; negative: none."""
    group = f"{settings.topic_prefix}.workers-{KIND}.v1"
    consumer = Consumer({"bootstrap.servers": settings.kafka, "group.id": group})
    try:
        [place] = consumer.committed([TopicPartition(tasks(settings, KIND), partition)], timeout=10)
        return int(place.offset)
    finally:
        consumer.close()
