"""A rebuild in ClickHouse beside live traffic: tables are exchanged, and nobody sees an empty or half-built one."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from projections.checkpoints import clickhouse_checkpoints
from projections.rebuild.building import Progress
from projections.rebuild.clickhouse import ClickHouseRebuild
from projections.rebuild.difference import Difference
from projections.rebuild.outcome import Rebuilt
from services.localstack.ports import port_for
from services.runtime.clickhouse import connect
from services.runtime.producer import Producer
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.test_process import MODULE, caught_up, check_all
from tests.integration.projections.following import Partition, numbers, process
from tests.integration.projections.test_rebuild import traffic

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
            client.command(f"DROP DATABASE {name}")


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


async def test_views_follow_a_rebuild_under_traffic_and_never_count_less(
    ledger: Settings, partitions: list[Partition], producer: Producer, clickhouse: Client, rows: Rows, port: int
) -> None:
    rebuilt: list[Rebuilt] = []
    lines: list[str] = []
    with dropped(clickhouse), process(ledger, port, MODULE):
        await caught_up(ledger, partitions)
        async with reader(ledger) as seen:
            with traffic(partitions, producer, pause_seconds=0.5):
                rebuilt.append(await asyncio.to_thread(rebuild_of(ledger, lines).rebuild))
            await caught_up(ledger, partitions)
            rebuilt.append(await asyncio.to_thread(rebuild_of(ledger, lines).rebuild))
            before = len(seen)
            await eventually(lambda: len(seen) > before, 60.0)
        assert seen == sorted(seen)
        assert [each.difference for each in rebuilt] == [Difference()] * 2, lines
        assert [each.version for each in rebuilt] == [f"{clickhouse.database}_v{number}" for number in (2, 3)]
        assert all(each.switched for each in rebuilt)
        await asyncio.to_thread(check_all, ledger, partitions, rows)
        partitions[0].say(numbers(9, 100), producer)
        await caught_up(ledger, partitions)
        await asyncio.to_thread(check_all, ledger, partitions, rows)
        gone = await asyncio.to_thread(rebuild_of(ledger).drop_old)
        assert gone == [each.version for each in rebuilt]
        await asyncio.to_thread(check_all, ledger, partitions, rows)


class Killed(BaseException):
    """The process is gone from here on."""


async def test_killed_between_two_exchanges_nothing_is_wrong_and_the_next_one_begins_anew(
    ledger: Settings,
    partitions: list[Partition],
    producer: Producer,
    clickhouse: Client,
    rows: Rows,
    port: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def exchange_one(_rebuild: object, client: Client, used: str, built: str, tables: list[object]) -> None:
        client.command(f"EXCHANGE TABLES {used}.job_events AND {built}.job_events")
        raise Killed

    with dropped(clickhouse), process(ledger, port, MODULE):
        await caught_up(ledger, partitions)
        with monkeypatch.context() as patch:
            patch.setattr(ClickHouseRebuild, "_exchange", exchange_one)
            with pytest.raises(Killed):
                rebuild_of(ledger).rebuild()
        partitions[0].say(numbers(5, 200), producer)
        await caught_up(ledger, partitions)
        await asyncio.to_thread(check_all, ledger, partitions, rows)
        rebuilt = await asyncio.to_thread(rebuild_of(ledger).rebuild, drop_old=True)
        assert (rebuilt.version, rebuilt.switched) == (f"{clickhouse.database}_v3", True)
        await asyncio.to_thread(check_all, ledger, partitions, rows)


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
