"""How fast the projection puts events into ClickHouse, against ClickHouse reading the same bytes and keeping nothing.

Run it with `python -m bench.clickhouse`. It starts the parts of a stack of its own in a temporary directory; a
ClickHouse of JOBLEDGER_CLICKHOUSE takes the place of the embedded one. Reading from Kafka is not part of it.
"""

import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from bench.events import Figure, figures_of, generated, options, show, timed
from projections.clickhouse.insertion import FORMAT, PROBE, TABLE
from projections.clickhouse.sink import ClickHouseSink
from services.localstack.places import StackDir
from services.localstack.stack import Stack
from services.runtime.clickhouse import connect
from services.runtime.raw_log import RawEntry
from services.runtime.registry import encoder
from services.runtime.settings import Settings, settings_from
from tests.event_streams import Stream


def main() -> None:
    """Measure and print."""
    given = options(__doc__, 200_000, 20_000)
    with stack() as settings:
        stream = generated(given.events, Stream(encoder=encoder(settings)))
        figures = measure(settings, entries_of(stream), given.batch)
    show(stream, given.batch, figures, given.json)


def entries_of(stream: Stream) -> list[RawEntry]:
    """Return the stream as the log would hand it out."""
    return [RawEntry(raw, stream.partition, at * 2, at, "") for at, raw in enumerate(stream.raws, start=1)]


def measure(settings: Settings, entries: list[RawEntry], size: int) -> list[Figure]:
    """Measure the projection, then what ClickHouse alone does with the same bytes."""
    batches = [entries[at : at + size] for at in range(0, len(entries), size)]
    with closing(ClickHouseSink(settings)) as sink, closing(connect(settings.clickhouse)) as client:
        assert sink.lock()
        sink.checkpoints(range(settings.partitions))
        avro = {
            "format_avro_schema_registry_url": settings.registry,
            "input_format_avro_allow_missing_fields": 1,
            "async_insert": 0,
        }
        bodies = [b"".join(entry.raw for entry in batch) for batch in batches]

        def read_again(table: str) -> None:
            for body in bodies:
                client.raw_insert(table, insert_block=body, fmt=FORMAT, settings=avro)

        measured = {
            "projection: plan, insert, views, done": timed(lambda: [sink.write(batch) for batch in batches]),
            "ClickHouse: the same inserts alone": timed(lambda: read_again(TABLE)),
            "floor: ClickHouse reads, keeps nothing": timed(lambda: read_again(PROBE)),
        }
        client.command(f"DROP DATABASE {client.database}")
    return figures_of(len(entries), measured, measured["floor: ClickHouse reads, keeps nothing"])


@contextmanager
def stack() -> Iterator[Settings]:
    """Yield the settings of a stack with a database of its own in ClickHouse."""
    with tempfile.TemporaryDirectory() as directory:
        parts = Stack(StackDir(Path(directory) / "stack"), os.environ)
        try:
            parts.start()
            settings = settings_from(parts.environ)
            server = settings.clickhouse.rpartition("/")[0]
            yield replace(settings, clickhouse=f"{server}/bench_{uuid.uuid4().hex}")
        finally:
            parts.stop()


if __name__ == "__main__":
    main()
