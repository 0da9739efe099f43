"""What a writer of warehouses costs above its driver: `python -m bench.warehouses`.

The same batches of deliveries are written in turn in two ways, into a fresh table each round: by the writer (items made
rows, its own exactness) and by the floor (the driver alone, one COPY per batch of rows that are made before). Rows a
second and CPU-ms of this process a delivery are told, and the ratio of the latter.
The first round warms up and is left out.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict

from bench.machine import machine_facts
from services.ledger.tasks import Delivery
from services.localstack import postgres
from services.localstack.child import Child
from services.localstack.places import StackDir
from services.runtime.networks import LOCAL
from services.writers.rows import Row, row_of
from services.writers.warehouses.kinds import KINDS, Opening
from services.writers.warehouses.table import Table

RESULTS = Path(__file__).parent / "results" / "warehouses.json"
FIELDS = ("title", "url", "price", "stock", "sold", "brand", "rating", "seen")
Batch = Sequence[Row]


class Measured(msgspec.Struct, frozen=True):
    """Medians of some rounds."""

    rows_per_second: float
    cpu_ms_per_delivery: float


class Figures(msgspec.Struct, frozen=True):
    """What was measured of one kind."""

    machine: dict[str, str | int | float]
    kind: str
    deliveries: int  # of each round
    items: int  # of each delivery
    batch: int  # deliveries written at once
    writer: Measured
    floor: Measured
    cpu_ratio: float  # of the writer to the floor


def batches(deliveries: int, items: int, size: int) -> list[Batch]:
    """Return rows of deliveries, as they are read of their extractions."""
    made = [
        {name: f"{name} {number}" for name in FIELDS} | {"price": number / 4, "stock": number}
        for number in range(items)
    ]
    document = json.dumps({"normalized": {"items": made}}).encode()
    rows = [row_of(_delivery(number), document) for number in range(deliveries)]
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _delivery(number: int) -> Delivery:
    return Delivery(
        org_id="org-1",
        job_id=f"job-{number:06}",
        partition=0,
        destination_id="own",
        kind="customer_postgres",
        generation=1,
        try_number=1,
        result_ref="",
        content_type="text/html",
        extraction_ref="e",
        domain="shop.example",
    )


async def by_writer(dsn: str, table: str, work: Sequence[Batch]) -> None:
    """Write with all that makes it exact."""
    kind, given = KINDS["customer_postgres"], conninfo_to_dict(dsn)
    where = {"host": given["host"], "port": int(str(given["port"])), "database": given["dbname"], "user": given["user"]}
    settings = kind.read_settings({**where, "table": table, "sslmode": "disable"})
    secrets = kind.read_secrets({"password": given["password"]})
    writer = Table(kind, kind.open(Opening(settings, secrets, allowed=LOCAL)))
    try:
        for batch in work:
            results = await writer.write(batch)
            if any(each.error_type for each in results):
                raise RuntimeError("a delivery was refused")
    finally:
        await writer.close()


async def by_driver(dsn: str, table: str, work: Sequence[Batch]) -> None:
    """Copy the same values, which are made before, by the driver alone."""
    columns = ", ".join(("org_id", "job_id", "data", *FIELDS))
    async with await AsyncConnection.connect(dsn, autocommit=True) as connection:
        made = ", ".join(f"{name} text" for name in ("org_id", "job_id", "data", *FIELDS))
        await connection.execute(f"CREATE TABLE {table} ({made})".encode())
        for batch in work:
            async with (
                connection.cursor() as cursor,
                cursor.copy(f"COPY {table} ({columns}) FROM STDIN".encode()) as copy,
            ):
                for row in batch:
                    for item in _items(row.normalized):
                        await copy.write_row((row.delivery.org_id, row.delivery.job_id, *item))


def _items(normalized: str, known: dict[str, list[tuple[Any, ...]]] = {}) -> list[tuple[Any, ...]]:  # noqa: B006
    """Return the values of items: made once, since all deliveries have the same."""
    if normalized not in known:
        items = json.loads(normalized)["items"]
        known[normalized] = [(json.dumps(item), *(item[name] for name in FIELDS)) for item in items]
    return known[normalized]


Way = Callable[[str, str, Sequence[Batch]], Awaitable[None]]
WAYS: dict[str, Way] = {"writer": by_writer, "floor": by_driver}


def measure(dsn: str, deliveries: int, items: int, size: int, rounds: int) -> Figures:
    """Measure both ways in turn."""
    work = batches(deliveries, items, size)
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in WAYS}
    for number in range(rounds + 1):
        for name, way in WAYS.items():
            began, spent = time.monotonic(), time.process_time()
            asyncio.run(way(dsn, f"{name}_{number}", work))  # type: ignore[arg-type]
            if number:
                took[name].append((time.monotonic() - began, time.process_time() - spent))
    found = {
        name: Measured(
            round(deliveries * items / statistics.median(seconds for seconds, _ in each)),
            round(statistics.median(cpu for _, cpu in each) * 1000 / deliveries, 3),
        )
        for name, each in took.items()
    }
    ratio = round(found["writer"].cpu_ms_per_delivery / found["floor"].cpu_ms_per_delivery, 2)
    return Figures(
        machine_facts(), "customer_postgres", deliveries, items, size, found["writer"], found["floor"], ratio
    )


def main() -> None:
    """Measure on a Postgres of its own, print, and write down where that is asked for."""
    options = argparse.ArgumentParser(prog="python -m bench.warehouses", description=__doc__.partition("\n")[0])
    options.add_argument("--deliveries", type=int, default=2000, help="of each round (2000)")
    options.add_argument("--items", type=int, default=20, help="of each delivery (20)")
    options.add_argument("--batch", type=int, default=100, help="deliveries written at once (100)")
    options.add_argument("--rounds", type=int, default=3, help="of each way (3)")
    options.add_argument("--write", action="store_true", help=f"write the figures to {RESULTS.name}")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        directory = StackDir(Path(place))
        directory.create()
        program = postgres.postgres_program(directory, "bench")
        server = Child(program, directory.log(program.name))
        server.start()
        try:
            server.wait_ready()
            dsn = postgres.dsn(program.port, "bench")
            postgres.ensure_database(dsn)
            with psycopg.connect(dsn) as connection:
                connection.execute("SELECT 1")
            figures = measure(dsn, given.deliveries, given.items, given.batch, given.rounds)
        finally:
            server.stop()
    for name, found in (("writer", figures.writer), ("floor", figures.floor)):
        print(f"{name:<8}{found.rows_per_second:>10,.0f} rows/s{found.cpu_ms_per_delivery:>9.3f} CPU-ms a delivery")
    print(f"the writer uses {figures.cpu_ratio:g} times the CPU of the driver alone")
    if given.write:
        RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=2) + b"\n")


if __name__ == "__main__":
    main()
