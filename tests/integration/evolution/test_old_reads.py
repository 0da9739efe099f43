"""Code of a released version on the newest schema of Postgres: it reads, and its statements can still be made.

Its SQL and the rows that it reads into lie in tests/released, so that no history is needed.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import psycopg
import pytest
from msgspec import Struct
from psycopg import sql
from psycopg.rows import dict_row

from services.ledger.status import Status
from services.runtime.settings import Settings
from services.runtime.sql import blocks
from tests import released
from tests.event_streams import Play, Stream, entries_of
from tests.integration.projections.conftest import Project
from tests.integration.projections.conftest import project as project
from tests.integration.projections.conftest import store as store
from tests.released.v0_1_0.rows import Checkpoint, Delivery, Gate, Job, JobStatus, Transition, Visit

OLD = Path(released.__file__).with_name("v0_1_0")
READ = blocks(OLD / "read.sql")
READ_INTO: dict[str, type[Struct]] = {
    "job": Job,
    "transitions": Transition,
    "trace": Visit,
    "deliveries": Delivery,
    "gate": Gate,
    "page": Job,
    "page_by_status": Job,
    "statuses": JobStatus,
    "checkpoints": Checkpoint,
}
PLACEHOLDER = re.compile(r"%\((\w+)\)s|%s")
Row = TypeVar("Row", bound=Struct)


class Reader:
    """The read model as the old code opens it."""

    def __init__(self, dsn: str) -> None:
        self._connection = psycopg.connect(dsn, autocommit=True, row_factory=dict_row)
        [found] = self._connection.execute(READ["active_schema"]).fetchall()
        self._connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(found["schema_name"])))
        self._connection.execute("SET TimeZone TO 'UTC'")

    def rows(self, name: str, row: type[Row], arguments: Any) -> list[Row]:
        """Return the rows of a query as the old code types them; ValidationError where they are none any more."""
        assert READ_INTO[name] is row
        query = sql.SQL(READ[name]).format(columns=sql.SQL(", ").join(map(sql.Identifier, row.__struct_fields__)))
        with self._connection.cursor(binary=True) as cursor:
            return [msgspec.convert(each, row) for each in cursor.execute(query, arguments).fetchall()]

    def count(self, name: str, **arguments: str) -> Any:
        """Return the number that a query answers."""
        [row] = self._connection.execute(READ[name], arguments).fetchall()
        return row["count"]

    def close(self) -> None:
        """End the session."""
        self._connection.close()


@pytest.fixture
def reader(settings: Settings) -> Iterator[Reader]:
    """A reader of the old version."""
    reader = Reader(settings.postgres)
    yield reader
    reader.close()


def test_old_code_reads_what_todays_has_projected(reader: Reader, project: Project) -> None:
    chosen = random.Random(1)  # leaves a job in every state
    stream = Stream().open().play(chosen.randrange(16 * 40) for _ in range(400))
    stream.submit()
    project(entries_of(stream))
    kept = [job for job in stream.jobs if job.gone != "deleted"]
    assert len(kept) < len(stream.jobs)
    seen: set[str] = set()
    by_org: defaultdict[str, list[Play]] = defaultdict(list)
    for job in kept:
        key = (job.org_id, job.job_id)
        by_org[job.org_id].append(job)
        [row] = reader.rows("job", Job, key)
        [gate] = reader.rows("gate", Gate, key)
        deliveries = reader.rows("deliveries", Delivery, key)
        transitions = reader.rows("transitions", Transition, key)
        assert (row.status, row.seq, row.attempt) == (job.status, job.seq, job.attempt)
        assert [each.seq for each in transitions] == list(range(1, job.seq + 1))
        assert job.step == len(reader.rows("trace", Visit, key))
        assert {each.destination_id for each in deliveries} >= job.generations.keys()
        gating = {each.destination_id for each in job.destinations if each.gating}
        assert job.status != "completed" or len(gate.opened_by) == gate.expected == len(gating)
        seen |= {job.status, *(each.status for each in deliveries)}
    assert seen >= {*Status, "acked", "requested"} - {Status.TIMED_OUT, Status.LOST}, seen  # no job of a stream is
    for org_id, jobs in by_org.items():
        page = {"org_id": org_id, "submitted_at": datetime.max.replace(tzinfo=UTC), "job_id": "", "limit": 1000}
        assert sorted(each.job_id for each in reader.rows("page", Job, page)) == sorted(job.job_id for job in jobs)
        done = [job.job_id for job in jobs if job.status == "completed"]
        found = reader.rows("page_by_status", Job, page | {"status": "completed"})
        assert sorted(each.job_id for each in found) == sorted(done)
        told = reader.rows("statuses", JobStatus, (org_id, [job.job_id for job in jobs]))
        assert {each.job_id: each.status for each in told} == {job.job_id: job.status for job in jobs}
        waiting = sum(job.status == "extraction_done" for job in jobs)
        assert reader.count("indexing_pending", org_id=org_id, domain="", url="") == waiting
    [checkpoint] = [each for each in reader.rows("checkpoints", Checkpoint, ()) if each.position]
    assert (checkpoint.partition, checkpoint.position) == (stream.partition, len(stream.events))


@pytest.mark.parametrize("file", ["store", "config", "results"])
def test_each_statement_of_old_code_can_be_made(settings: Settings, file: str) -> None:
    with psycopg.connect(settings.postgres) as connection:
        connection.execute("SELECT set_config('search_path', schema_name, false) FROM jobledger.active_version")
        for name, statement in blocks(OLD / f"{file}.sql").items():
            if name == "make_staging":  # two statements, which the next ones stand on
                connection.execute(statement)
                continue
            connection.execute(f"PREPARE {name} AS {_numbered(statement)}".encode())


def _numbered(statement: str) -> str:
    """Return a statement with its placeholders as Postgres writes them."""
    names: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return f"${names.setdefault(found[1] or str(found.start()), len(names) + 1)}"

    return PLACEHOLDER.sub(number, statement)
