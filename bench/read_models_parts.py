"""One part of a log after the other into a read model, by what its process is made of, and the floor of each part."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import psycopg
from psycopg import sql

from bench.processes import cpu_ms
from projections.ahead import AheadLog
from projections.clickhouse.gathering import MOST_EVENTS, GatheringLog
from projections.clickhouse.insertion import FORMAT, TABLE
from projections.clickhouse.sink import ClickHouseSink
from projections.migrate import SCHEMA
from projections.postgres.sink import ActiveSink
from projections.runner import Log, Sink
from services.runtime.clickhouse import connect
from services.runtime.ledger_log import Entry, LedgerLog
from services.runtime.raw_log import Checkpoint, RawEntry, RawLog
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from services.runtime.shredding.vault import Vault
from services.runtime.strangers import by_checksum, noting

POLL_SECONDS, PATIENCE_SECONDS = 0.5, 30.0
POSTGRES_EVENTS = 1000  # of one batch, as the runner's
# Tables whose rows say at which event they were last changed.
TABLES = ("jobs", "job_transitions", "job_trace", "extraction_deliveries", "credit_transactions")
FLOOR = "bench_floor"


class Part(msgspec.Struct, frozen=True):
    """What one measured step took: seconds by the clock, and seconds of CPU by process."""

    seconds: float
    cpu: dict[str, float]
    events: int = 0


def measured_part(servers: Mapping[str, int], work: Callable[[], int | None]) -> Part:
    """Measure a step, which returns how many events it folded; `projection` is this process."""
    before, own, began = cpu_ms(servers), time.process_time(), time.perf_counter()
    events = work() or 0
    seconds, own, after = time.perf_counter() - began, time.process_time() - own, cpu_ms(servers)
    return Part(seconds, {name: (after[name] - before[name]) / 1000 for name in servers} | {"projection": own}, events)


class Folding:
    """A projection that goes on from part to part as its runner would; `checkpoints` are those it stands at."""

    def __init__(
        self, sink: Sink[Any], open_log: Callable[[Mapping[int, Checkpoint]], Log[Any]], partitions: int, at_once: int
    ) -> None:
        assert sink.lock()
        self._sink, self._at_once = sink, at_once
        self.checkpoints = dict(sink.checkpoints(range(partitions)))
        self._log = AheadLog(open_log(self.checkpoints))

    def go_on(self, events: int) -> list[bytes]:
        """Fold until at least so many events were folded; return their bytes, and keep nothing else of them."""
        folded: list[bytes] = []
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(folded) < events:
            entries = self._log.poll(self._at_once, POLL_SECONDS)
            self.checkpoints |= self._sink.write(entries)
            folded += [entry.raw for entry in entries]
            if entries:
                deadline = time.monotonic() + PATIENCE_SECONDS
            elif time.monotonic() > deadline:
                raise TimeoutError(f"the log ends {events - len(folded)} events early")
        return folded

    def close(self) -> None:
        """Let go of log and store."""
        self._log.close()
        self._sink.close()


class PostgresParts:
    """The projection into Postgres; its floor is COPY of the rows that a part changed or made."""

    def __init__(self, settings: Settings, _file: Path) -> None:
        self._settings, self._decoder = settings, decoder(settings)
        self._sink = ActiveSink(settings.postgres, Vault(settings.credentials_key))
        self._connection = psycopg.connect(settings.postgres, autocommit=True)
        self._data: dict[str, list[bytes]] = {}
        self._before: dict[int, int] = {}

    def __enter__(self) -> Self:
        self._folding = Folding(self._sink, self._open_log, self._settings.partitions, POSTGRES_EVENTS)
        self._connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(SCHEMA)))
        self._connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(FLOOR)))
        for table in TABLES:
            names = (sql.Identifier(FLOOR, table), sql.Identifier(SCHEMA, table))
            self._connection.execute(sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING ALL)").format(*names))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._connection.close()
        self._folding.close()

    def _open_log(self, starts: Mapping[int, Checkpoint]) -> Log[Entry]:
        return LedgerLog(self._settings, self._decoder, starts, following=True)

    def fold(self, events: int) -> int:
        """Go on folding until at least so many events were folded; return how many were."""
        self._before = {partition: at.position for partition, at in self._folding.checkpoints.items()}
        return len(self._folding.go_on(events))

    def prepare_floor(self) -> None:
        """Read the rows of the last part."""
        for table in TABLES:
            # A visit of a node says no position: the transition beside it does.
            placed = sql.SQL("JOIN job_transitions AS p USING (org_id, job_id, seq)" if table == "job_trace" else "")
            rows = sql.SQL(
                "COPY (SELECT r.* FROM {} AS r {} JOIN unnest({}::integer[], {}::bigint[]) AS b (partition, position) "
                "ON {}.partition = b.partition AND {}.position > b.position) TO STDOUT (FORMAT BINARY)"
            ).format(
                sql.Identifier(table),
                placed,
                list(self._before),
                list(self._before.values()),
                *[sql.SQL("p" if table == "job_trace" else "r")] * 2,
            )
            with self._connection.cursor().copy(rows) as out:
                self._data[table] = [bytes(block) for block in out]
            self._connection.execute(sql.SQL("TRUNCATE {}").format(sql.Identifier(FLOOR, table)))

    def floor(self) -> None:
        """Let Postgres take those rows."""
        for table, blocks in self._data.items():
            copy = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(sql.Identifier(FLOOR, table))
            with self._connection.cursor().copy(copy) as into:
                for block in blocks:
                    into.write(block)


class ClickHouseParts:
    """The projection into ClickHouse; its floor is ClickHouse reading the bytes of a part from a file."""

    def __init__(self, settings: Settings, file: Path) -> None:
        self._settings, self._file, self._decoder = settings, file, decoder(settings)
        self._sink = ClickHouseSink(settings)
        self._client = connect(settings.clickhouse)
        self._raws: list[bytes] = []
        self._statement = ""

    def __enter__(self) -> Self:
        self._folding = Folding(self._sink, self._open_log, self._settings.partitions, MOST_EVENTS)
        self._client.command(f"CREATE TABLE {FLOOR} AS {TABLE}")
        columns = self._client.query(
            f"SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = '{TABLE}'"
        ).result_rows
        structure = ", ".join(f"{name} {kind}" for name, kind in columns).replace("'", "\\'")
        self._statement = (
            f"INSERT INTO {FLOOR} SELECT * FROM file('{self._file}', '{FORMAT}', '{structure}') SETTINGS "
            f"format_avro_schema_registry_url = '{self._settings.registry}', input_format_avro_allow_missing_fields = 1"
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._client.close()
        self._folding.close()

    def _open_log(self, starts: Mapping[int, Checkpoint]) -> Log[RawEntry]:
        judge = by_checksum(self._decoder.claim)
        return GatheringLog(RawLog(self._settings, judge, noting("bench"), starts, following=True))

    def fold(self, events: int) -> int:
        """Go on folding until at least so many events were folded; return how many were."""
        self._raws = self._folding.go_on(events)
        return len(self._raws)

    def prepare_floor(self) -> None:
        """Write the bytes of the last part to the file."""
        self._file.write_bytes(b"".join(self._raws))
        self._raws = []
        self._client.command(f"TRUNCATE TABLE {FLOOR}")

    def floor(self) -> None:
        """Let ClickHouse read them."""
        self._client.command(self._statement)
