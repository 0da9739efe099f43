"""The part of `patches.py` that is about writers and schedulers."""

from dataclasses import replace
from functools import partial
from typing import Any

import services.scheduler.__main__ as scheduler_main
import services.writers.__main__ as writers_main
import services.writers.clickhouse.compose
import services.writers.clickhouse.writer
import services.writers.postgres.compose
import services.writers.postgres.writer
import services.writers.warehouses.customer_postgres.warehouse
import services.writers.webhook.compose
import services.writers.webhook.sender
import services.writers.webhook.throttles
from services.runtime.topics import deliveries
from services.scheduler import leftover_bodies, leftover_keys
from services.scheduler.leftover_bodies import LeftoverBodies
from services.scheduler.leftover_keys import LeftoverKeys
from services.scheduler.retained import ALL_OTHERS
from services.writers.warehouses import compose
from services.writers.warehouses import table as table_of_items
from services.writers.warehouses.kinds import KINDS
from services.writers.warehouses.stored import StoredDestinations
from tests.simulation import houses, lake, read_model, spiders, sweeps
from tests.simulation.idle import nothing, serve, watch_nothing
from tests.simulation.pool import Pool
from tests.simulation.receivers import Session
from tests.simulation.retained import Retained
from tests.simulation.schedules import Book
from tests.simulation.world import World

NEVER_SECONDS = 1e6


def writers(world: World) -> list[tuple[Any, str, Any]]:
    """Return what writers of our stores and of webhooks stand on."""
    hooks, table = services.writers.webhook.compose, services.writers.postgres.compose
    other, its_writer = services.writers.clickhouse.compose, services.writers.clickhouse.writer
    return [
        (writers_main, "serve", serve),
        (writers_main, "job_keys", world.vault.lent),
        (
            writers_main,
            "writer_app",
            lambda settings, kind, handle, fault, taking: world.stream(
                deliveries(settings, kind), handle, fault, taking
            ),
        ),
        *((writers_main, name, watch_nothing) for name in ("watch_stream", "watch_postgres", "watch_clickhouse")),
        (table, "BlobStore", lambda _url: world.blobs),
        (services.writers.postgres.writer, "AsyncConnection", world.warehouse),
        (other, "BlobStore", lambda _url: world.blobs),
        (its_writer, "connect", lambda _url: lake.Client(world.lake)),
        (its_writer, "migrate", lambda *_: []),
        (hooks, "BlobStore", lambda _url: world.blobs),
        (hooks, "AsyncConnectionPool", lambda *_, **__: Pool(world.hooks.does, world.chaos)),
        (hooks, "Positions", lambda _dsn: read_model.Positions(world.model)),
        (services.writers.webhook.sender, "checked_connector", lambda *_, **__: None),
        (services.writers.webhook.sender, "session_over", lambda *_, **__: Session(world.posted)),
        (services.writers.webhook.throttles, "random", world.random),
    ]


def warehouses(world: World) -> list[tuple[Any, str, Any]]:
    """Return what writers of customers' warehouses stand on."""
    kind = replace(KINDS[houses.KIND], write_seconds=houses.WRITE_SECONDS)
    return [
        (writers_main, "KINDS", writers_main.KINDS | {kind.name: compose.opener(kind)}),
        (table_of_items, "PIECE_BYTES", spiders.PIECE_BYTES),
        (compose, "AsyncConnectionPool", nothing),
        (compose, "BlobStore", lambda _url: world.blobs),
        (StoredDestinations, "_looked_up", lambda _self, name: world.houses.looked_up(name)),
        (services.writers.warehouses.customer_postgres.warehouse, "PostgresWarehouse", world.houses.opened),
    ]


def scheduler(world: World) -> list[tuple[Any, str, Any]]:
    """Return what the schedulers stand on."""
    partitions = world.settings.partitions
    return [
        (scheduler_main, "serve", serve),
        (scheduler_main, "wait_for_broker", lambda *_: None),
        (scheduler_main, "ensure_topics", lambda *_: None),
        (
            scheduler_main,
            "AsyncConnectionPool",
            lambda *_, **__: Pool(sweeps.Sweeps(world.model, partitions).does, world.chaos),
        ),
        (scheduler_main, "StoredBook", lambda _pool, _keys, **_: Book(world.schedules)),
        (scheduler_main, "BlobStore", lambda _url: sweeps.Bodies(world.blobs, world.chaos)),
        (scheduler_main, "LeftoverBodies", partial(LeftoverBodies, grace_seconds=sweeps.BODY_GRACE_SECONDS)),
        (scheduler_main, "LeftoverKeys", partial(LeftoverKeys, grace_seconds=sweeps.KEY_GRACE_SECONDS)),
        (leftover_bodies, "SWEEP_SECONDS", sweeps.SWEEP_SECONDS),
        (leftover_keys, "SWEEP_SECONDS", sweeps.SWEEP_SECONDS if world.vault.swept else NEVER_SECONDS),
        (
            scheduler_main,
            "StoredRetained",
            lambda _pool, seconds, whose=ALL_OTHERS: Retained(world.model, world.chaos, seconds, whose),
        ),
        (scheduler_main, "watch_postgres", watch_nothing),
    ]
