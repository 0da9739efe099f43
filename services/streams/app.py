"""The Faust app that workers and writers run on: our settings of it, its records, and its life."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

import faust
from faust.app.base import BootStrategy
from yarl import URL

from services.runtime.late_faults import say_if_it_fails
from services.runtime.reader import Record
from services.runtime.settings import Settings
from services.streams.acks import AcksInOrder, Done
from services.streams.consumer import KafkaTransport, TansuTransport
from services.streams.watch import Taking

BUFFERED_RECORDS = 64  # that were fetched and wait for the agent
SESSION_SECONDS = 6.0  # a group member that is killed is missed after this
COMMIT_SECONDS = 1.0
QUIET = ("faust", "mode", "aiokafka", "services.streams")  # Faust logs about our subclasses under their module
Handle = Callable[[Record, Done], Awaitable[None]]


class StreamFault(Exception):
    """Faust stopped by itself; the process has to be started again."""


class ConsumerOnly(BootStrategy):
    """Starts no producer, no monitor and no web server: producing is the runtime's, measuring is ours."""

    enable_kafka_producer = False
    enable_sensors = False
    enable_web = False


class StreamApp(faust.App):
    """A Faust app that only consumes."""

    BootStrategy = ConsumerOnly
    connecting: Mapping[str, Any] = MappingProxyType({})  # how its client of Kafka connects, as aiokafka takes it

    async def on_first_start(self) -> None:
        """Create no directories for tables, which there are none of."""


def stream_app(settings: Settings, group: str) -> StreamApp:
    """Build an app whose agents consume as one consumer group."""
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    brokers = [URL(f"kafka://{server}") for server in settings.kafka.split(",")]
    app = StreamApp(
        group,
        broker=brokers,
        autodiscover=False,
        store="memory://",
        web_enabled=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        processing_guarantee="at_least_once",
        stream_buffer_maxsize=BUFFERED_RECORDS,
        stream_wait_empty=False,
        broker_commit_interval=COMMIT_SECONDS,
        broker_session_timeout=SESSION_SECONDS,
        broker_heartbeat_interval=SESSION_SECONDS / 3,
    )
    transport = TansuTransport if settings.broker == "tansu" else KafkaTransport
    app.transport = transport(brokers, app)
    app.connecting = settings.connection().aiokafka()
    return app


def raw_topic(app: StreamApp, name: str) -> Any:
    """Return an existing topic whose keys and values are bytes."""
    return app.topic(name, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")


async def consume(stream: Any, handle: Handle, fault: asyncio.Future[None], taking: Taking) -> None:
    """Hand each record of an agent's stream to `handle`, with what to call once it is done.

    An error of `handle` goes to `fault`, and nothing is consumed any more: Faust would restart the agent and go on
    with the next record. The process has to leave then.
    """
    acks = AcksInOrder()
    taking.agents += 1
    try:
        async for event in stream.noack().events():
            done = acks.take(event.message.partition, event.ack)
            taking.taken[event.message.partition] = event.message.offset + 1
            taking.waits = True
            try:
                await handle(_record_of(event.message), done)
            except Exception as error:
                if not fault.done():
                    fault.set_exception(error)
                await asyncio.Event().wait()
            taking.waits = False
    finally:
        taking.agents -= 1
        taking.waits = False


def _record_of(message: Any) -> Record:
    return Record(
        topic=message.topic,
        partition=message.partition,
        offset=message.offset,
        key=(message.key or b"").decode(errors="replace"),
        value=message.value or b"",
        headers=list(message.headers or ()),
        timestamp_ms=int((message.timestamp or 0) * 1000),
    )


@contextlib.asynccontextmanager
async def running(app: StreamApp) -> AsyncIterator[None]:
    """Run the app as long as the context lasts."""
    await app.start()
    try:
        yield
    finally:
        await app.stop()


async def until_it_stops(app: StreamApp) -> None:
    """Wait as long as the app runs; raise StreamFault when Faust stops by itself."""
    await app.wait_until_stopped()
    raise StreamFault("the Faust app stopped by itself: see the error before this one") from app.crash_reason


async def raised(fault: asyncio.Future[None]) -> None:
    """Wait for a fault and raise it, in a group of tasks whose end does not end what is waited for."""
    try:
        await asyncio.shield(fault)
    except asyncio.CancelledError:
        say_if_it_fails(fault)
        raise
