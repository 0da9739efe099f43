"""Puts simulated things in the place of what production code reaches outside with: one list, nothing else is replaced.

The replaced names are those at the seams: the Kafka client's two classes, the driver's connection, stores, threads,
clocks and randomness. What talks to them (transactions, readers, producers, commander, shells) is production code.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any
from unittest import mock

import projections.__main__ as projections_main
import projections.ahead
import projections.clickhouse.__main__ as clickhouse_main
import projections.clickhouse.sink
import projections.lag
import projections.postgres.sink
import projections.process
import services.decider.__main__ as decider_main
import services.decider.partition
import services.decider.restore
import services.decider.waiting
import services.ledger.snapshot
import services.runtime.broker_watch
import services.runtime.commander
import services.runtime.ends
import services.runtime.health_server
import services.runtime.producer
import services.runtime.reader
import services.runtime.snapshots
import services.runtime.store_watch
import services.runtime.transactions
import services.snapshotter.__main__ as snapshotter_main
import services.snapshotter.sink
import services.workers.modules.__main__ as modules_main
import services.workers.process as workers_main
import services.workers.readers
import services.writers.clickhouse.compose
import services.writers.clickhouse.writer
import services.writers.postgres.compose
import services.writers.postgres.writer
import services.writers.webhook.compose
from schemas.avro_of import record_schema
from schemas.codec import Decoder, Encoder
from schemas.events import EVENT_TYPES
from services.decider import permits
from services.decider.partition import open_partition
from services.decider.restore import restore
from services.ledger.state import Ledger
from services.runtime.asking import keep_asking
from services.runtime.errors import RegistryAway
from services.runtime.settings import Settings
from services.runtime.topics import events, tasks
from tests.simulation import clickhouse, fibers, read_model
from tests.simulation.archive import Archive
from tests.simulation.idle import serve, watch_nothing
from tests.simulation.life import Crashed, current
from tests.simulation.modules import NAME, Count
from tests.simulation.patched_writers import scheduler, warehouses, writers
from tests.simulation.snapshot_store import SnapshotStore
from tests.simulation.world import START_MICROS, World, policy

EVENTS_REMEMBERED = 20_000
WATCHES = (services.runtime.broker_watch, services.runtime.store_watch, services.decider.waiting, projections.lag)
WATCH_SECONDS = 10.0  # between two looks of those who only tell /ready what answers and how far it is
NUMBERS = {name: number for number, name in enumerate(EVENT_TYPES, start=1)}
NAMES = {number: name for name, number in NUMBERS.items()}
ENCODER = Encoder(NUMBERS)


class _Remembering(Decoder):
    """Decodes the same bytes once: ten processes and the checks read each event."""

    def __init__(self, schema_by_id: Callable[[int], dict[str, Any]]) -> None:
        super().__init__(schema_by_id)
        self.decode = lru_cache(EVENTS_REMEMBERED)(super().decode)  # type: ignore[method-assign]
        self.claim = lru_cache(EVENTS_REMEMBERED)(super().claim)  # type: ignore[method-assign]
        self.whole = lru_cache(EVENTS_REMEMBERED)(super().whole)  # type: ignore[method-assign]


DECODER = _Remembering(lambda number: record_schema(NAMES[number]))
THREADS = SimpleNamespace(Thread=fibers.Thread, Event=fibers.Event, Condition=fibers.Condition, Lock=fibers.Lock)


@contextmanager
def simulated(world: World) -> Iterator[None]:
    """Replace what is outside for as long as the context lasts."""
    with ExitStack() as stack:
        for owner, name, stand_in in _replaced(world):
            stack.enter_context(mock.patch.object(owner, name, stand_in))
        yield


def _replaced(world: World) -> list[tuple[Any, str, Any]]:
    return [
        *_clocks(world),
        *_kafka(world),
        *_threads(),
        *_decider(world),
        *_workers(world),
        *writers(world),
        *warehouses(world),
        *_read_model(world),
        *_snapshotter(world),
        *_clickhouse(world),
        *scheduler(world),
    ]


def _clocks(world: World) -> list[tuple[Any, str, Any]]:
    def nanos() -> int:
        return (START_MICROS + current().skew_micros) * 1000 + int(world.loop.now * 1e9)

    return [
        (time, "monotonic", lambda: world.loop.now),
        (time, "perf_counter", lambda: world.loop.now),
        (time, "time_ns", nanos),
        (time, "time", lambda: nanos() / 1e9),
        (time, "sleep", fibers.sleep),
        (os, "urandom", world.random.randbytes),
        (asyncio, "run_coroutine_threadsafe", fibers.run_coroutine_threadsafe),
    ]


def _kafka(world: World) -> list[tuple[Any, str, Any]]:
    clients, rarely = world.clients, partial(keep_asking, every_seconds=WATCH_SECONDS)
    return [
        (services.runtime.transactions, "Producer", clients.producer),
        (services.runtime.transactions, "ThreadPoolExecutor", fibers.Pool),
        (services.runtime.producer, "confluent_kafka", SimpleNamespace(Producer=clients.producer)),
        (services.runtime.reader, "Consumer", clients.consumer),
        (services.runtime.ends, "Consumer", clients.consumer),
        *((module, "keep_asking", rarely) for module in WATCHES),
    ]


def _threads() -> list[tuple[Any, str, Any]]:
    modules = (
        services.runtime.producer,
        services.runtime.commander,
        services.workers.readers,
        decider_main,
        permits,
        projections.ahead,
    )
    return [(module, "threading", THREADS) for module in modules]


def _decider(world: World) -> list[tuple[Any, str, Any]]:
    archive = Archive(world.model, world.broker.partitions(events(world.settings)), DECODER, world.chaos)

    def leave_at_once(fenced: Exception) -> None:
        world.cluster.say(f"{current()} fenced: {fenced}")
        world.cluster.end(current())
        raise Crashed

    def registered(_settings: Settings) -> Encoder:
        fibers.sleep(world.chaos.latency())
        if world.chaos.strikes("registry_away"):
            raise RegistryAway("simulated")
        return ENCODER

    def remembered(tools: Any, partition: int) -> Any:
        decider = open_partition(tools, partition)
        world.memories.append((current(), partition, world.loop.time(), decider.ledger))
        return decider

    def seen(*arguments: Any) -> Ledger:
        ledger = restore(*arguments)
        world.restored(ledger)
        return ledger

    return [
        (services.runtime.health_server, "serve", serve),
        (decider_main, "encoder", registered),
        (decider_main, "decoder", lambda _settings: DECODER),
        (decider_main, "leave_at_once", leave_at_once),
        (services.decider.restore, "gc", SimpleNamespace(freeze=lambda: None)),  # a seed is not for life
        (decider_main, "PostgresArchive", lambda _dsn: archive),
        (decider_main, "policy_of", policy),
        (decider_main, "open_partition", remembered),
        (services.decider.partition, "restore", seen),
        (permits, "LEAST", 1),  # a process has two partitions at most here
    ]


def _workers(world: World) -> list[tuple[Any, str, Any]]:
    return [
        (workers_main, "serve", serve),
        (workers_main, "Commander", world.commander),
        (workers_main, "job_keys", world.vault.lent),
        (workers_main, "StoredCredentials", lambda _settings: world.site),
        (workers_main, "BlobStore", lambda _url: world.blobs),
        (
            workers_main,
            "worker_app",
            lambda settings, kind, handle, fault, taking: world.stream(tasks(settings, kind), handle, fault, taking),
        ),
        (workers_main, "watch_stream", watch_nothing),
        (modules_main, "modules", lambda: {NAME: Count()}),
    ]


def _read_model(world: World) -> list[tuple[Any, str, Any]]:
    return [
        (projections_main, "decoder", lambda _settings: DECODER),
        (projections_main, "postgres_runner", _in_fibers(projections.postgres.sink.postgres_runner)),
        (projections.process, "serve", serve),
        (projections.process, "wait_for_broker", lambda *_: None),
        (projections.process, "ensure_topics", lambda *_: None),
        (projections.postgres.sink, "migrate", lambda _dsn: None),
        (projections.postgres.sink, "Store", lambda _dsn, _schema, _vault: read_model.Store(world.model, world.chaos)),
    ]


def _snapshotter(world: World) -> list[tuple[Any, str, Any]]:
    return [
        (snapshotter_main, "decoder", lambda _settings: DECODER),
        (snapshotter_main, "runner_of", _in_fibers(snapshotter_main.runner_of)),
        (services.snapshotter.sink, "policy_of", policy),
        (services.snapshotter.sink, "EVENTS_BETWEEN", world.events_between_snapshots),
        (services.ledger.snapshot, "JOBS_IN_PART", 3),
        (services.runtime.snapshots, "BlobStore", lambda _url: SnapshotStore(world.blobs, world.chaos)),
    ]


def _clickhouse(world: World) -> list[tuple[Any, str, Any]]:
    return [
        (clickhouse_main, "decoder", lambda _settings: DECODER),
        (clickhouse_main, "runner_of", _in_fibers(clickhouse_main.runner_of)),
        (clickhouse_main, "watch_postgres", watch_nothing),
        (clickhouse_main, "watch_clickhouse", watch_nothing),
        (projections.clickhouse.sink, "Books", lambda _dsn, _schema: clickhouse.Books(world.house)),
        (projections.clickhouse.sink, "connect", lambda _url: clickhouse.Client(world.house)),
        (projections.clickhouse.sink, "migrate_tables", lambda _client: None),
        (projections.clickhouse.sink, "keep", lambda _client, _days: None),
    ]


def _in_fibers(runner_of: Callable[..., Any]) -> Callable[..., Any]:
    """Let a runner wait as fibers do."""

    def made(*arguments: Any) -> Any:
        runner = runner_of(*arguments)
        runner._stopping = fibers.Event()
        return runner

    return made
