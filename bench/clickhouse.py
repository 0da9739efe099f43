"""How fast the projection puts events into ClickHouse, against ClickHouse reading the same bytes and keeping nothing.

Run it with `python -m bench.clickhouse`. It starts the parts of a stack of its own in a temporary directory; a
ClickHouse of JOBLEDGER_CLICKHOUSE takes the place of the embedded one. Reading from Kafka is not part of it.
"""

import argparse
import json
import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from msgspec import Struct, to_builtins

from bench.projection import generated, timed
from projections.clickhouse.insertion import FORMAT, PROBE, TABLE
from projections.clickhouse.sink import ClickHouseSink
from services.localstack.places import StackDir
from services.localstack.stack import Stack
from services.runtime.clickhouse import connect
from services.runtime.raw_log import RawEntry
from services.runtime.registry import encoder
from services.runtime.settings import Settings, settings_from
from tests.event_streams import Stream


class Figure(Struct):
    """One measured way of handling the events."""

    what: str
    seconds: float
    cpu_seconds: float  # of this process; ClickHouse has its own
    events_per_second: int
    share_of_floor: float = 0.0


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--events", type=int, default=200_000, help="about how many events to insert (200000)")
    options.add_argument("--batch", type=int, default=20_000, help="events an insert (20000)")
    options.add_argument("--json", action="store_true", help="print one JSON object")
    given = options.parse_args()
    with stack() as settings:
        stream = generated(given.events, Stream(encoder=encoder(settings)))
        figures = measure(settings, entries_of(stream), given.batch)
    if given.json:
        print(json.dumps({"events": len(stream.events), "batch": given.batch, "figures": to_builtins(figures)}))
        return
    print(f"{len(stream.events)} events of {len(stream.jobs)} jobs, inserts of {given.batch}")
    print(f"{'':<40}{'seconds':>9}{'cpu s':>8}{'events/s':>11}{'of the floor':>14}")
    for figure in figures:
        times = f"{figure.seconds:>9.2f}{figure.cpu_seconds:>8.2f}"
        print(f"{figure.what:<40}{times}{figure.events_per_second:>11}{figure.share_of_floor:>14.0%}")


def entries_of(stream: Stream) -> list[RawEntry]:
    """Return the stream as the log would hand it out."""
    return [RawEntry(raw, stream.partition, at * 2, at, []) for at, raw in enumerate(stream.raws, start=1)]


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
    number, floor = len(entries), measured["floor: ClickHouse reads, keeps nothing"][0]
    return [
        Figure(what, round(took, 3), round(cpu, 3), round(number / took), floor / took)
        for what, (took, cpu) in measured.items()
    ]


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
