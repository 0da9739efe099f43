"""ClickHouse and the bookkeeping of its projection: inserts come twice, late or unheard."""

import asyncio
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import fastavro
import psycopg
from clickhouse_connect.driver.exceptions import ClickHouseError

from projections.clickhouse.books import BooksMoved
from projections.clickhouse.erasure import ERASE, FIND
from projections.clickhouse.insertion import TABLE
from projections.clickhouse.plan import Plan
from projections.clickhouse.sink import FOLDED
from schemas.avro_of import record_schema
from schemas.events import EVENT_TYPES
from services.runtime.raw_log import Checkpoint
from tests.simulation import fibers
from tests.simulation.chaos import Chaos, Fault
from tests.simulation.life import Life, as_the_world, current

FRAME_BYTES = 5  # magic and id of the schema before each event
NAMES = dict(enumerate(EVENT_TYPES, start=1))


@dataclass(frozen=True, slots=True)
class Row:
    """What is looked at of a row of `job_events`."""

    partition: int
    position: int
    event_type: str
    org_id: str
    job_id: str


class ClickHouse:
    """The table of events, and the tokens under which it has taken inserts."""

    def __init__(self, chaos: Chaos) -> None:
        self.rows: list[Row] = []
        self.checkpoints: dict[int, Checkpoint] = {}  # of the bookkeeping, as are the next two
        self.plan: Plan | None = None
        self.owner: Books | None = None
        self.wrong: list[str] = []
        self.chaos = chaos
        self._taken: set[str] = set()

    def land(self, body: bytes, token: str) -> None:
        """Take an insert, once."""
        if token in self._taken:
            return
        self._taken.add(token)
        held = {(row.partition, row.position) for row in self.rows}
        for row in rows_of(body):
            if (row.partition, row.position) in held:
                self.wrong.append(f"ClickHouse has {row} twice")
            self.rows.append(row)

    def missing(self, told: Iterable[Row]) -> list[str]:
        """Compare with the log: all of it has to be there, but for what was said of jobs before their deletion."""
        events = list(told)
        deleted = {(row.org_id, row.job_id): row.position for row in events if row.event_type == "JobDeleted"}
        kept = {row for row in events if row.position >= deleted.get((row.org_id, row.job_id), 0)}
        due = {row for row in kept if row.position <= self.checkpoints.get(row.partition, Checkpoint()).position}
        lacks, more = due.difference(self.rows), set(self.rows) - kept
        return [f"ClickHouse lacks {len(lacks)} events and has {len(more)} too many"] if lacks or more else []


class Caller:
    """What calls of ClickHouse have in common, whoever makes them."""

    def __init__(self, chaos: Chaos) -> None:
        self._chaos = chaos
        self._life: Life = current()

    def call(self, fault: Fault) -> None:
        """Take the time of a call, and fail at times."""
        self._life.check()
        fibers.sleep(self._chaos.latency())
        if self._chaos.strikes(fault):
            raise ClickHouseError(f"simulated: {fault}")

    def land(self, insert: Callable[[], None]) -> None:
        """Insert; what is on its way lands, mostly also when its process dies."""
        late, loop = self._chaos.latency(), asyncio.get_running_loop()

        def landed() -> None:
            if self._life.alive or self._chaos.random.random() < 0.7:
                insert()

        as_the_world(lambda: loop.call_later(late, landed))
        fibers.sleep(late + 0.0001)

    def close(self) -> None:
        """Hold nothing."""


class Client(Caller):
    """Stands for `clickhouse_connect`'s client, for the statements of the projection."""

    def __init__(self, house: ClickHouse) -> None:
        super().__init__(house.chaos)
        self._house = house

    def raw_insert(self, table: str, insert_block: bytes, fmt: str, settings: dict[str, Any]) -> None:
        """Insert rows."""
        del fmt
        self.call("clickhouse_down_before")
        if table != TABLE:
            list(rows_of(insert_block))
            return
        self.land(lambda: self._house.land(insert_block, settings["insert_deduplication_token"]))
        self.call("clickhouse_down_after")

    def query(self, statement: str, parameters: dict[str, Any] | None = None) -> Any:
        """Answer what the projection asks."""
        self.call("clickhouse_down_before")
        rows = self._house.rows
        if statement == FOLDED:
            found: list[tuple[Any, ...]] = [
                (number, max(row.position for row in rows if row.partition == number))
                for number in sorted({row.partition for row in rows})
            ]
        else:
            assert statement == FIND
            assert parameters
            found = [
                (row.org_id, row.job_id, row.position)
                for row in rows
                if row.event_type == "JobDeleted"
                if row.org_id in parameters["orgs"] and (row.partition, row.position) in parameters["places"]
            ]
        return SimpleNamespace(result_rows=found)

    def command(self, statement: str, parameters: dict[str, Any] | None = None) -> None:
        """Erase rows; of the states of jobs nothing is kept here, and to insert nothing is only to be there."""
        self.call("clickhouse_down_before")
        if statement == ERASE:
            assert parameters
            deleted = dict(zip(parameters["jobs"], parameters["deleted"], strict=True))
            self._house.rows = [
                row for row in self._house.rows if row.position >= deleted.get((row.org_id, row.job_id), 0)
            ]
        self.call("clickhouse_down_after")


class Books:
    """Stands for `projections.clickhouse.books.Books`."""

    def __init__(self, house: ClickHouse) -> None:
        self._house, self._chaos = house, house.chaos
        self._life: Life = current()

    def close(self) -> None:
        """End the session."""
        if self._house.owner is self:
            self._house.owner = None

    def lock(self) -> bool:
        """Try to become the only writer; the lock of a dead session is free."""
        self._call()
        owner = self._house.owner
        if owner is None or not owner._life.alive:
            self._house.owner = self
        return self._house.owner is self

    def checkpoints(self, partitions: Iterable[int]) -> dict[int, Checkpoint]:
        """Return where to go on."""
        self._call()
        return {number: self._house.checkpoints.setdefault(number, Checkpoint()) for number in partitions}

    def planned(self) -> Plan | None:
        """Return the insert of which nobody knows whether it was made."""
        self._call()
        return self._house.plan

    def plan(self, plan: Plan) -> None:
        """Note an insert."""
        self._write("read_model_down_before")
        if any(self._house.checkpoints[number] != each.start for number, each in plan.ranges.items()):
            raise BooksMoved("simulated")
        self._house.plan = plan
        self._write("read_model_down_after")

    def done(self, plan: Plan) -> None:
        """Note that it was made."""
        self._write("read_model_down_before")
        if self._house.plan is None or self._house.plan.token != plan.token:
            raise BooksMoved("simulated")
        self._house.checkpoints |= {number: each.end for number, each in plan.ranges.items()}
        self._house.plan = None
        self._write("read_model_down_after")

    def _write(self, fault: Any) -> None:
        self._call()
        if self._chaos.strikes(fault):
            raise psycopg.OperationalError(f"simulated: {fault}")

    def _call(self) -> None:
        self._life.check()
        fibers.sleep(self._chaos.latency())


SCHEMAS = {number: fastavro.parse_schema(record_schema(name)) for number, name in NAMES.items()}


def rows_of(body: bytes) -> Iterable[Row]:
    """Read the events that follow each other in the body of an insert."""
    stream = io.BytesIO(body)
    while frame := stream.read(FRAME_BYTES):
        number = int.from_bytes(frame[1:], "big")
        record: Any = fastavro.schemaless_reader(stream, SCHEMAS[number], None)
        yield Row(
            record["partition"], record["position"], NAMES[number], record.get("org_id", ""), record.get("job_id", "")
        )
