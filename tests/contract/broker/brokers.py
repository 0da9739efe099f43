"""Apache Kafka and the simulated broker behind one face: clients of confluent_kafka, outages, members of a group."""

import asyncio
import os
import signal
import time
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any, Protocol, TypeVar

import confluent_kafka
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from services.localstack.stack import Stack
from services.runtime.settings import Settings, settings_from
from services.runtime.topics import tasks
from services.streams.app import running
from services.workers.app import worker_app
from tests.integration.streams.taking import KIND, Taking
from tests.integration.streams.taking import committed as committed_of
from tests.simulation import fibers
from tests.simulation.broker import Broker, Clock
from tests.simulation.chaos import Chaos, Weather
from tests.simulation.clients import Clients
from tests.simulation.life import CURRENT, WORLD, Life
from tests.simulation.loop import VirtualLoop
from tests.simulation.streams import Group, StreamApp
from tests.simulation.world import settings_of

T = TypeVar("T")
PARTITIONS = 2  # of every topic
PATIENCE_SECONDS = 60.0  # for what comes soon on a machine that has nothing else to do
LOOK_SECONDS = 0.02
CALM = Weather(0.0, 0.0, 0, 0, 0, 0.0, {})


class AnyBroker(Protocol):
    """A broker under test."""

    settings: Settings  # with a topic prefix of its own

    def create(self, topic: str) -> str:
        """Make a topic of two partitions and return its name."""

    def producer(self, config: dict[str, Any]) -> Any:
        """Make what confluent_kafka.Producer is; its methods block."""

    def consumer(self, config: dict[str, Any]) -> Any:
        """Make what confluent_kafka.Consumer is; its methods block."""

    def now_ms(self) -> int:
        """Return the time of the clients, in milliseconds UTC."""

    def eventually(self, condition: Callable[[], object]) -> None:
        """Return once the condition holds."""

    def away(self, seconds: float) -> AbstractContextManager[None]:
        """Answer nobody for so long, and at least as long as the context lasts."""

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the event loop of the broker's clients."""

    async def call(self, work: Callable[[], T]) -> T:
        """Do what blocks, from a coroutine."""

    def member(self, taking: Taking) -> AbstractAsyncContextManager[object]:
        """Let one more member of the workers' group take tasks."""

    def committed(self, partition: int) -> int:
        """Return the offset that the workers' group has committed; 0 or less: none."""


class Kafka:
    """The Apache Kafka of the shared stack."""

    def __init__(self, stack: Stack) -> None:
        self.settings = replace(settings_from(stack.environ), topic_prefix=f"test-{uuid.uuid4().hex[:12]}")
        self._admin = AdminClient({"bootstrap.servers": self.settings.kafka})
        self._held: list[Held] = []
        self._pids = [each.identity.pid for each in stack.processes() if each.name == "broker" and each.identity]

    def create(self, topic: str) -> str:
        [made] = self._admin.create_topics([NewTopic(topic, PARTITIONS, 1)]).values()
        made.result(PATIENCE_SECONDS)
        self.eventually(lambda: len(self._admin.list_topics(topic, PATIENCE_SECONDS).topics[topic].partitions))
        return topic

    def producer(self, config: dict[str, Any]) -> Any:
        return self._hold(Held(confluent_kafka.Producer(config)))

    def consumer(self, config: dict[str, Any]) -> Any:
        return self._hold(HeldConsumer(confluent_kafka.Consumer(config)))

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def eventually(self, condition: Callable[[], object]) -> None:
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < give_up_at, f"not within {PATIENCE_SECONDS:g} s"
            time.sleep(LOOK_SECONDS)

    @property
    def mortal(self) -> bool:
        """Whether its process is of this machine."""
        return bool(self._pids)

    @contextmanager
    def away(self, seconds: float) -> Iterator[None]:
        [pid] = self._pids
        back_at = time.monotonic() + seconds
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
            time.sleep(max(0.0, back_at - time.monotonic()))
        finally:
            os.kill(pid, signal.SIGCONT)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(work)

    async def call(self, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work)

    @asynccontextmanager
    async def member(self, taking: Taking) -> AsyncIterator[object]:
        app = worker_app(self.settings, KIND, taking.handle, taking.fault, taking.loop)
        async with running(app):
            yield app

    def committed(self, partition: int) -> int:
        return committed_of(self.settings, partition)

    def close(self) -> None:
        """Let go of the clients, which otherwise live on with the errors that name them."""
        for held in self._held:
            held.client = None

    def _hold(self, held: "Held") -> Any:
        self._held.append(held)
        return held


class Held:
    """A client of Apache Kafka that can be let go of."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)


class HeldConsumer(Held):
    """Lets go of its consumer when that is closed: a process may have about a thousand of them that are not freed."""

    def close(self) -> None:
        self.client.close()
        self.client = None


class InFiber:
    """A client of the simulated broker whose methods block whoever calls them, while simulated time goes on."""

    def __init__(self, loop: VirtualLoop, client: Any) -> None:
        self._loop, self._client = loop, client

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)

        def call(*arguments: Any, **named: Any) -> Any:
            if fibers.blocking():
                return method(*arguments, **named)
            return self._loop.run_until_complete(fibers.started(self._loop, partial(method, *arguments, **named)))

        return call


class Simulated:
    """The broker of the simulation, in calm weather."""

    def __init__(self) -> None:
        random = Random(0)
        self.settings = settings_of(random)
        self.loop = VirtualLoop(random, 10_000_000)
        self._chaos = Chaos(random, CALM)
        self._clock = Clock(self.loop, time.time_ns() // 1000)
        self._broker = Broker(self.loop, self._chaos, self._clock)
        self._clients = Clients(self._broker, self.loop)
        self._groups: dict[str, Group] = {}

    def create(self, topic: str) -> str:
        self._broker.create(topic, PARTITIONS)
        return topic

    def producer(self, config: dict[str, Any]) -> Any:
        return InFiber(self.loop, self._clients.producer(config))

    def consumer(self, config: dict[str, Any]) -> Any:
        return InFiber(self.loop, self._clients.consumer(config))

    def now_ms(self) -> int:
        return self._clock()

    def eventually(self, condition: Callable[[], object]) -> None:
        give_up_at = self.loop.now + PATIENCE_SECONDS
        while not condition():
            assert self.loop.now < give_up_at, f"not within {PATIENCE_SECONDS:g} simulated seconds"
            self.loop.run_until_complete(asyncio.sleep(LOOK_SECONDS))

    @contextmanager
    def away(self, seconds: float) -> Iterator[None]:
        back_at = self._broker.up_again_at = self.loop.now + seconds
        yield
        self.loop.run_until_complete(asyncio.sleep(max(0.0, back_at - self.loop.now)))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    async def call(self, work: Callable[[], T]) -> T:
        return await fibers.started(self.loop, work)

    @asynccontextmanager
    async def member(self, taking: Taking) -> AsyncIterator[object]:
        topic = tasks(self.settings, KIND)
        group = self._groups.setdefault(topic, Group(self._broker, topic, self.loop))
        before = CURRENT.set(Life("member", len(group.committed)))
        try:
            app = StreamApp(self._broker, group, topic, taking.handle, taking.fault, taking.loop, self._chaos)
            await app.start()
        finally:
            CURRENT.reset(before)
        try:
            yield app
        finally:
            await app.stop()

    def committed(self, partition: int) -> int:
        return self._groups[tasks(self.settings, KIND)].committed[partition]

    def close(self) -> None:
        """Let go of what still waits."""
        self.loop.close()
        WORLD.kept.clear()


def records(messages: Sequence[Any]) -> list[tuple[int, bytes | None]]:
    """Return offset and value of each."""
    return [(message.offset(), message.value()) for message in messages]
