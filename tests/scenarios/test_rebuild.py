"""Scenarios 92 and 93: rebuilds again and again, and beside live projectors: the same digest, and nobody sees less."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from projections.rebuild.difference import Difference
from projections.rebuild.outcome import Rebuilt
from services.localstack.ports import port_for
from services.runtime.producer import Producer
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.clickhouse import test_rebuild as houses
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.conftest import clickhouse as clickhouse
from tests.integration.clickhouse.conftest import rows as rows
from tests.integration.clickhouse.projecting import go_on
from tests.integration.clickhouse.test_process import MODULE, check_all
from tests.integration.clickhouse.test_process import caught_up as inserted
from tests.integration.conftest import producer as producer
from tests.integration.projections import test_rebuild as schemas
from tests.integration.projections.conftest import Connection
from tests.integration.projections.conftest import database as database
from tests.integration.projections.following import Partition, numbers, process, ready
from tests.integration.projections.test_process import faults, until

pytestmark = pytest.mark.kafka
SECONDS = 60.0


@pytest.fixture
def ports(tmp_path: Path) -> list[int]:
    """Ports of two processes."""
    return [port_for(tmp_path / "ports.json", f"projections-{number}") for number in range(2)]


@pytest.fixture
def partitions(ledger: Settings, producer: Producer) -> list[Partition]:
    """Two partitions of the real topic, with some hundred events."""
    made = [Partition(ledger, number) for number in range(2)]
    for partition in made:
        partition.say(numbers(partition.stream.partition, 250), producer)
    return made


@pytest.fixture
def projectors(ledger: Settings, partitions: list[Partition], ports: list[int]) -> Iterator[list[int]]:
    """Two projections into Postgres, of which one writes and the other waits for its place; caught up."""
    with ExitStack() as stack:
        for port in ports:
            stack.enter_context(process(ledger, port))
        until(lambda: schemas.caught_up(ledger, partitions))
        yield ports


def test_92_three_rebuilds_in_one_process_have_the_same_digest_in_postgres(
    ledger: Settings, partitions: list[Partition], projectors: list[int]
) -> None:
    rebuild = schemas.rebuild_of(ledger)
    built = [rebuild.rebuild() for _ in range(3)]
    assert all(each.switched for each in built)
    assert len({(each.digest, each.rows) for each in built}) == 1
    assert built[0].positions == {0: len(partitions[0].stream.events), 1: len(partitions[1].stream.events), 2: 0, 3: 0}
    assert built[0].rows > 200, "it wiped nothing"
    assert rebuild.until(built[0].positions).digest == built[0].digest
    assert faults(ledger) == []


def test_92_three_rebuilds_in_one_process_have_the_same_digest_in_clickhouse(
    ledger: Settings, partitions: list[Partition], clickhouse: Client, rows: Rows
) -> None:
    go_on(ledger, [each.stream for each in partitions])
    rebuild = houses.rebuild_of(ledger)
    with houses.dropped(clickhouse):
        built = [rebuild.rebuild() for _ in range(3)]
        assert all(each.switched for each in built)
        assert len({(each.digest, each.rows) for each in built}) == 1
        assert built[0].rows > 200, "it wiped nothing"
        assert rebuild.until(built[0].positions).digest == built[0].digest
        check_all(ledger, partitions, rows)


async def test_93_beside_two_live_projectors_readers_of_postgres_see_all_jobs_all_the_time(
    ledger: Settings, partitions: list[Partition], producer: Producer, projectors: list[int], database: Connection
) -> None:
    built: list[Rebuilt] = []
    async with schemas.reader(ledger) as seen:
        with schemas.traffic(partitions, producer):
            for _ in range(2):
                built.append(await asyncio.to_thread(schemas.rebuild_of(ledger).rebuild))
        until(lambda: schemas.caught_up(ledger, partitions))
        built.append(await asyncio.to_thread(schemas.rebuild_of(ledger).rebuild))
        before = len(seen)
        await eventually(lambda: len(seen) > before, SECONDS)
    assert [each.version for each in built] == ["ledger_v2", "ledger_v3", "ledger_v4"]
    assert all(each.switched and not each.difference for each in built)
    assert min(seen) > 0
    until(lambda: any(ready(port)["ready"] for port in projectors))
    assert await asyncio.to_thread(faults, ledger) == []
    replaced = {"ledger_v1_retired", "ledger_v2_retired", "ledger_v3_retired"}
    assert schemas.schemas(database) == replaced | {"ledger_v4"}
    assert set(schemas.rebuild_of(ledger).drop_old()) == replaced
    assert schemas.schemas(database) == {"ledger_v4"}
    partitions[1].say(numbers(7, 100), producer)
    until(lambda: schemas.caught_up(ledger, partitions))
    assert await asyncio.to_thread(faults, ledger) == []


async def test_93_beside_two_live_projectors_readers_of_clickhouse_never_count_less(
    ledger: Settings,
    partitions: list[Partition],
    producer: Producer,
    clickhouse: Client,
    rows: Rows,
    ports: list[int],
) -> None:
    built: list[Rebuilt] = []
    lines: list[str] = []
    with houses.dropped(clickhouse), process(ledger, ports[0], MODULE), process(ledger, ports[1], MODULE):
        await inserted(ledger, partitions)
        async with houses.reader(ledger) as seen:
            with schemas.traffic(partitions, producer, pause_seconds=0.5):
                built.append(await asyncio.to_thread(houses.rebuild_of(ledger, lines).rebuild))
            await inserted(ledger, partitions)
            built.append(await asyncio.to_thread(houses.rebuild_of(ledger, lines).rebuild))
            before = len(seen)
            await eventually(lambda: len(seen) > before, SECONDS)
        assert seen == sorted(seen)
        assert [each.difference for each in built] == [Difference()] * 2, lines
        assert [each.version for each in built] == [f"{clickhouse.database}_v{number}" for number in (2, 3)]
        assert all(each.switched for each in built)
        await asyncio.to_thread(check_all, ledger, partitions, rows)
        partitions[0].say(numbers(9, 100), producer)
        await inserted(ledger, partitions)
        gone = await asyncio.to_thread(houses.rebuild_of(ledger).drop_old)
        assert gone == [each.version for each in built]
        await asyncio.to_thread(check_all, ledger, partitions, rows)
