"""A rebuild in ClickHouse beside live traffic: tables are exchanged, and nobody sees an empty or half-built one."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from projections.checkpoints import clickhouse_checkpoints
from projections.rebuild.building import Progress
from projections.rebuild.clickhouse import ClickHouseRebuild
from projections.rebuild.difference import Difference
from services.localstack.ports import port_for
from services.runtime.clickhouse import connect, quoted
from services.runtime.producer import Producer
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from tests.integration.clickhouse.conftest import Rows, database_of
from tests.integration.clickhouse.projecting import go_on
from tests.integration.clickhouse.test_process import MODULE, caught_up, check_all, row_reader
from tests.integration.projections.following import Partition, numbers, process
from tests.integration.projections.test_rebuild import command
from tests.proxy import Passing, Proxy, Refused, proxying, server_of, through

pytestmark = pytest.mark.kafka
LATER = {"mutations_sync": 2}


@pytest.fixture
def port(tmp_path: Path) -> int:
    """A free port of the process."""
    return port_for(tmp_path / "ports.json", "projections-clickhouse")


@pytest.fixture
def partitions(ledger: Settings, producer: Producer) -> list[Partition]:
    made = [Partition(ledger, number) for number in range(2)]
    for partition in made:
        partition.say(numbers(partition.stream.partition, 200), producer)
    return made


@contextmanager
def dropped(client: Client) -> Iterator[None]:
    """Drop every database that a rebuild has made."""
    try:
        yield
    finally:
        for (name,) in client.query(
            f"SELECT name FROM system.databases WHERE name LIKE '{client.database}_%'"
        ).result_rows:
            client.command(f"DROP DATABASE {quoted(name)}")


def rebuild_of(settings: Settings, lines: list[str] | None = None) -> ClickHouseRebuild:
    told = [] if lines is None else lines
    return ClickHouseRebuild(settings, decoder(settings), Progress("clickhouse", told.append))


@asynccontextmanager
async def reader(settings: Settings) -> AsyncIterator[list[int]]:
    """Count jobs and events all the while, as a dashboard would; neither fails nor goes down by more than deletions."""
    seen: list[int] = []
    done = asyncio.Event()

    def look(client: Client) -> int:
        [(jobs,)] = client.query("SELECT count() FROM job_status").result_rows
        [(submitted,)] = client.query("SELECT sum(submitted) FROM funnel_hourly").result_rows
        assert int(submitted) >= int(jobs) > 0
        return int(submitted)

    async def ask() -> None:
        with closing(connect(settings.clickhouse)) as client:
            while not done.is_set():
                seen.append(await asyncio.to_thread(look, client))
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(done.wait(), 0.1)

    asking = asyncio.create_task(ask())
    try:
        yield seen
    finally:
        done.set()
        await asking


class Killed(BaseException):
    """The process is gone from here on."""


async def test_killed_while_it_builds_and_between_two_exchanges_nothing_is_wrong(
    ledger: Settings, partitions: list[Partition], producer: Producer, clickhouse: Client, rows: Rows, port: int
) -> None:
    first, second = f"{clickhouse.database}_v2", f"{clickhouse.database}_v3"
    async with proxying(server_of(ledger.clickhouse)) as proxy:
        through_it = replace(ledger, clickhouse=through(proxy, ledger.clickhouse))
        with dropped(clickhouse), process(ledger, port, MODULE):
            await caught_up(ledger, partitions)
            await killed_at(proxy, through_it, "INSERT INTO job_events ")
            await asyncio.to_thread(check_all, ledger, partitions, rows)
            partitions[0].say(numbers(5, 200), producer)
            await caught_up(ledger, partitions)
            told = await killed_at(proxy, through_it, "EXCHANGE TABLES", at=2)
            assert f"going on with {first}, which an earlier rebuild has left unfinished" in told
            partitions[1].say(numbers(6, 200), producer)
            await caught_up(ledger, partitions)
            await asyncio.to_thread(check_all, ledger, partitions, rows)
            rebuilt = await asyncio.to_thread(rebuild_of(ledger).rebuild, drop_old=True)
            assert (rebuilt.version, rebuilt.switched) == (second, True)
            await asyncio.to_thread(check_all, ledger, partitions, rows)


async def killed_at(proxy: Proxy, settings: Settings, statement: str, at: int = 1) -> str:
    """Run `jobledger rebuild clickhouse` and kill it before the server sees such a statement; return what it told."""
    seen: list[Passing] = []
    with command(settings, "clickhouse") as child:

        async def kill(passing: Passing) -> None:
            if passing.body.startswith(statement.encode()):
                seen.append(passing)
                if len(seen) == at:
                    child.kill()
                    await asyncio.to_thread(child.wait)
                    raise Refused

        proxy.before = kill
        said, _ = await asyncio.to_thread(child.communicate)
    proxy.before = Proxy().before
    assert (child.returncode, len(seen)) == (-signal.SIGKILL, at), said
    return said


@pytest.fixture
def keeping(ledger: Settings) -> Settings:
    """Settings of a ClickHouse that keeps nothing of 2025, as the streams are, and whose name has to be quoted."""
    url = f"{ledger.clickhouse}-kept" if ledger.clickhouse else ""
    return replace(ledger, clickhouse=url, clickhouse_keep_days=30)


def test_what_was_forgotten_is_summed_again_and_compared_no_more(
    keeping: Settings, partitions: list[Partition]
) -> None:
    with database_of(keeping) as clickhouse, dropped(clickhouse):
        rebuild_what_was_forgotten(keeping, partitions, clickhouse, row_reader(clickhouse))


def rebuild_what_was_forgotten(keeping: Settings, partitions: list[Partition], clickhouse: Client, rows: Rows) -> None:
    go_on(keeping, [each.stream for each in partitions])
    clickhouse.command("OPTIMIZE TABLE job_events FINAL")
    views = ("funnel_hourly", "job_status", "org_balances")
    before = {view: rows(f"SELECT * FROM {view} ORDER BY ALL") for view in views}
    assert rows("SELECT count() FROM job_events") == [(0,)]
    clickhouse.command("DELETE FROM stage_positions WHERE stage = 'completed'", settings=LATER)
    differing = rebuild_of(keeping).rebuild()
    assert {bucket.split()[0] for bucket in differing.difference.buckets} == {"stage_positions"}
    assert rebuild_of(keeping).rebuild(accept_differences=True).switched
    clickhouse.command("OPTIMIZE TABLE job_events FINAL")
    assert rows("SELECT count() FROM job_events") == [(0,)]
    assert {view: rows(f"SELECT * FROM {view} ORDER BY ALL") for view in views} == before
    again = rebuild_of(keeping).rebuild()
    assert (again.switched, again.difference) == (True, Difference())
    built = rebuild_of(keeping).until(again.positions)
    assert built.version == f"{clickhouse.database}_until"
    assert rebuild_of(keeping).drop_old() == [f"{clickhouse.database}_v{number}" for number in (2, 3)]


async def test_it_goes_on_with_what_was_left_and_names_what_differs(
    ledger: Settings,
    partitions: list[Partition],
    clickhouse: Client,
    rows: Rows,
    port: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def die(*_arguments: object) -> None:
        raise Killed

    with dropped(clickhouse), process(ledger, port, MODULE):
        await caught_up(ledger, partitions)
        with monkeypatch.context() as patch:
            patch.setattr("projections.clickhouse.books.Books.done", die)
            with pytest.raises(Killed):
                rebuild_of(ledger).rebuild()
        [(org_id, job_id)] = rows(
            "SELECT org_id, job_id FROM job_events WHERE event_type = 'JobSubmitted' AND partition = 0 "
            "AND (org_id, job_id) NOT IN (SELECT org_id, job_id FROM deleted_jobs) ORDER BY position LIMIT 1"
        )
        where = f"job_id = '{job_id}' AND seq = 1"
        clickhouse.command(f"ALTER TABLE job_events UPDATE domain = 'other.example' WHERE {where}", settings=LATER)
        lines: list[str] = []
        rebuilt = rebuild_of(ledger, lines).rebuild()
        assert lines[0].startswith(f"going on with {clickhouse.database}_v2")
        assert not rebuilt.switched
        [(bucket, [fault])] = rebuilt.difference.buckets.items()
        assert bucket.startswith(f"job_events {org_id} 20")
        assert (fault.org_id, fault.job_id.split()[0], fault.field) == (org_id, job_id, "domain")
        assert (fault.expected, fault.found) == ("shop.example", "other.example")
        assert rebuild_of(ledger).rebuild(accept_differences=True).switched
        assert rows(f"SELECT domain FROM job_events WHERE {where}") == [("shop.example",)]
        await asyncio.to_thread(check_all, ledger, partitions, rows)


async def test_a_version_as_of_a_position_is_the_same_each_time(
    ledger: Settings, partitions: list[Partition], clickhouse: Client, rows: Rows, port: int
) -> None:
    with dropped(clickhouse), process(ledger, port, MODULE):
        await caught_up(ledger, partitions)
    with dropped(clickhouse):
        built = [rebuild_of(ledger).until({0: 120}) for _ in range(2)]
        database = f"{clickhouse.database}_until"
        assert built[0].digest == built[1].digest
        assert (built[0].version, built[0].switched) == (database, False)
        assert built[0].positions == clickhouse_checkpoints(ledger.postgres) | {0: 120}
        assert rows(f"SELECT max(position) FROM {database}.job_events WHERE partition = 0") == [(120,)]
        gone = f"SELECT count() FROM {database}.job_status WHERE job_id IN (SELECT job_id FROM deleted_jobs)"
        assert rows(gone) == [(0,)]
