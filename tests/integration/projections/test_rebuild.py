"""A rebuild beside live traffic: killed or not, it ends in the same read model, and readers follow it at once."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from projections.checkpoints import postgres_checkpoints
from projections.postgres.read import ReadModel
from projections.rebuild.building import Progress
from projections.rebuild.digests import digests_in_use
from projections.rebuild.faults import AnotherRebuild, LogTooShort, NoSuchPosition
from projections.rebuild.postgres import PostgresRebuild
from projections.rebuild.versions import SQL
from services.localstack.ports import port_for
from services.runtime.producer import Producer
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from tests.environ import environ_of
from tests.integration.projections.conftest import Connection
from tests.integration.projections.following import Partition, numbers, process
from tests.integration.projections.test_process import faults, until

pytestmark = pytest.mark.kafka
SECONDS = 60.0


@pytest.fixture
def port(tmp_path: Path) -> int:
    """A free port of the process."""
    return port_for(tmp_path / "ports.json", "projections")


@pytest.fixture
def partitions(ledger: Settings) -> list[Partition]:
    return [Partition(ledger, number) for number in range(2)]


@pytest.fixture
def following(ledger: Settings, partitions: list[Partition], producer: Producer, port: int) -> Iterator[int]:
    """The projection, caught up with some hundred events; gives its port."""
    for partition in partitions:
        partition.say(numbers(partition.stream.partition, 250), producer)
    with process(ledger, port):
        until(lambda: caught_up(ledger, partitions))
        yield port


def caught_up(settings: Settings, partitions: list[Partition]) -> bool:
    folded = postgres_checkpoints(settings.postgres)
    return all(folded.get(each.stream.partition, 0) == len(each.stream.events) for each in partitions)


def rebuild_of(settings: Settings, lines: list[str] | None = None) -> PostgresRebuild:
    told = [] if lines is None else lines
    return PostgresRebuild(settings, decoder(settings), Progress("postgres", told.append))


@contextmanager
def traffic(partitions: list[Partition], producer: Producer, pause_seconds: float = 0.1) -> Iterator[None]:
    """Let things happen until the block ends."""
    done = threading.Event()

    def say() -> None:
        seed = 100
        while not done.wait(pause_seconds):
            for partition in partitions:
                partition.say(numbers(seed + partition.stream.partition, 20), producer)
            seed += 10

    thread = threading.Thread(target=say)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@asynccontextmanager
async def reader(settings: Settings) -> AsyncIterator[list[int]]:
    """Ask all the while how many jobs there are and how far their partitions; it never goes back, nor fails."""
    numbers_of_jobs: list[int] = []
    done = asyncio.Event()

    async def ask() -> None:
        async with ReadModel(settings.postgres, 3) as model:
            known: dict[int, int] = {}
            while not done.is_set():
                listed = await model.page("acme-0", limit=1000)
                found = {partition: at.position for partition, at in (await model.checkpoints()).items()}
                assert all(found.get(partition, 0) >= at for partition, at in known.items())
                known = found
                numbers_of_jobs.append(len(listed.jobs))
                detail = await model.job("acme-0", listed.jobs[0].job_id)
                assert detail is not None
                assert detail.transitions

    asking = asyncio.create_task(ask())
    try:
        yield numbers_of_jobs
    finally:
        done.set()
        await asking


def schemas(database: Connection) -> set[object]:
    return {name for (name,) in database.execute(SQL["schemas"], ("^ledger_",))}


def test_a_rebuild_that_was_killed_goes_on_and_one_at_a_time(
    ledger: Settings, partitions: list[Partition], producer: Producer, following: int, database: Connection
) -> None:
    with command(ledger, "postgres") as child:
        until(lambda: "ledger_v2" in schemas(database))
        child.kill()
    assert active(database) == "ledger_v1"
    with psycopg.connect(ledger.postgres) as holding, command(ledger, "postgres") as child:
        holding.execute("LOCK TABLE ledger_v1.checkpoints IN SHARE MODE")  # so it stands before the switch
        until(lambda: waiting_for_the_switch(database))
        with pytest.raises(AnotherRebuild, match="another rebuild of postgres is under way"):
            rebuild_of(ledger).rebuild()
        child.kill()
        child.wait()
        holding.rollback()
    assert active(database) == "ledger_v1"
    partitions[0].say(numbers(3, 200), producer)
    until(lambda: free(ledger))
    lines: list[str] = []
    rebuilt = rebuild_of(ledger, lines).rebuild(drop_old=True)
    assert (rebuilt.version, rebuilt.switched) == ("ledger_v2", True)
    assert lines[0] == "going on with ledger_v2, which an earlier rebuild has left unfinished"
    assert schemas(database) == {"ledger_v2"}
    until(lambda: caught_up(ledger, partitions))
    assert faults(ledger) == []


@contextmanager
def command(settings: Settings, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Run `jobledger rebuild`."""
    child = subprocess.Popen(
        [sys.executable, "-m", "services.cli", "rebuild", *words],
        env=os.environ | environ_of(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        with child:
            yield child
    finally:
        child.kill()


def active(database: Connection) -> object:
    return database.execute(SQL["active_schema"]).fetchall()[0][0]


def waiting_for_the_switch(database: Connection) -> bool:
    waiting = (
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' "
        "AND application_name = 'jobledger rebuild postgres'"
    )
    return bool(database.execute(waiting).fetchall())


def free(settings: Settings) -> bool:
    """Whether the sessions of the killed one have ended."""
    names = ["jobledger rebuild postgres", "jobledger projection ledger_v2"]
    query = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = ANY (%s)"
    with psycopg.connect(settings.postgres) as connection:
        return not connection.execute(query, (names,)).fetchall()


def test_where_the_version_in_use_differs_it_says_where_and_does_not_switch(
    ledger: Settings, partitions: list[Partition], following: int, database: Connection
) -> None:
    [(job_id, day)] = database.execute(
        "UPDATE jobs SET domain = 'other.example' WHERE ctid = (SELECT min(ctid) FROM jobs WHERE org_id = 'acme-0') "
        "RETURNING job_id, submitted_at::date::text"
    ).fetchall()
    rebuilt = rebuild_of(ledger).rebuild()
    assert (rebuilt.switched, active(database)) == (False, "ledger_v1")
    [(bucket, [fault])] = rebuilt.difference.buckets.items()
    assert bucket == f"jobs acme-0 {day}"
    assert (fault.place, fault.org_id, fault.job_id, fault.field) == ("jobs", "acme-0", job_id, "domain")
    assert (fault.expected, fault.found) == ("shop.example", "other.example")
    with command(ledger, "postgres") as child:
        said, _ = child.communicate(timeout=SECONDS)
    assert (child.returncode, f"differs: jobs acme-0 {day}" in said) == (1, True)
    mended = rebuild_of(ledger).rebuild(accept_differences=True)
    assert (mended.switched, active(database)) == (True, "ledger_v2")
    until(lambda: caught_up(ledger, partitions))
    assert faults(ledger) == []


def test_a_version_as_of_a_position_is_the_same_each_time_and_nobody_follows_it(
    ledger: Settings, partitions: list[Partition], producer: Producer, following: int, database: Connection
) -> None:
    built = [rebuild_of(ledger).until({0: 150, 1: 90}) for _ in range(3)]
    assert len({each.digest for each in built}) == 1
    assert [(each.version, each.switched) for each in built] == [("ledger_until", False)] * 3
    assert built[0].positions == {0: 150, 1: 90, 2: 0, 3: 0}
    assert active(database) == "ledger_v1"
    later = database.execute("SELECT count(*) FROM ledger_until.job_transitions WHERE partition = 0 AND position > 150")
    assert later.fetchall() == [(0,)]
    gone = "SELECT count(*) FROM ledger_until.jobs JOIN ledger_v1.deleted_jobs USING (org_id, job_id)"
    assert database.execute(gone).fetchall() == [(0,)]
    assert database.execute("SELECT count(*) FROM ledger_v1.deleted_jobs").fetchall() != [(0,)]
    in_use = digests_in_use(ledger.postgres)
    assert rebuild_of(ledger).until(in_use.positions).digest == in_use.digest
    with pytest.raises(NoSuchPosition, match="0:999999: the version in use has 0 to"):
        rebuild_of(ledger).until({0: 999_999})
    assert rebuild_of(ledger).drop_old() == []
    assert schemas(database) == {"ledger_v1"}


def test_a_log_that_is_shorter_than_the_version_in_use_is_no_base_for_another(
    ledger: Settings, partitions: list[Partition], producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projections.rebuild.building.PATIENCE_SECONDS", 0.5)
    partitions[0].say(numbers(0, 100), producer)
    with psycopg.connect(ledger.postgres, autocommit=True) as connection:
        connection.execute(
            sql.SQL("INSERT INTO ledger_v1.checkpoints VALUES (0, {}, 9999, now(), 0)").format(
                len(partitions[0].stream.events) + 5
            )
        )
        with pytest.raises(LogTooShort, match="the log gives no event up to 0:"):
            rebuild_of(ledger).rebuild()
        assert active(connection) == "ledger_v1"
