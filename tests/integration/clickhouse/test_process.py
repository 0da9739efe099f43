"""The projection as a process: whoever dies or is away during an insert, each event is counted once in the end."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from clickhouse_connect.driver.client import Client

from projections.checkpoints import clickhouse_checkpoints
from projections.verification.clickhouse import verify_clickhouse
from services.localstack.child import Child
from services.localstack.clickhouse.program import NONE, clickhouse_program, has_engine
from services.localstack.places import StackDir
from services.localstack.ports import port_for
from services.localstack.program import Program
from services.localstack.registry.program import registry_program
from services.runtime.clickhouse import connect
from services.runtime.producer import Producer
from services.runtime.reader import LogReader
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from services.runtime.topics import events
from tests.eventually import eventually
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.projecting import check
from tests.integration.projections.following import Partition, numbers, process, ready
from tests.proxy import Passing, Proxy, Refused, Unavailable, proxying, server_of, through

MODULE = "projections.clickhouse"
SECONDS = 60.0

pytestmark = pytest.mark.kafka


@pytest.fixture
def port(tmp_path: Path) -> int:
    """A free port of the process."""
    return port_for(tmp_path / "own-ports.json", "projections-clickhouse")


@pytest.fixture
def directory(tmp_path: Path) -> StackDir:
    """Where servers of a test's own have their things."""
    directory = StackDir(tmp_path / "own")
    directory.create()
    return directory


@pytest.fixture
def server(directory: StackDir) -> Iterator[Child]:
    """A ClickHouse that a test may kill."""
    if not has_engine():
        pytest.skip(f"only an embedded server can be killed here; {NONE}")
    yield from running(clickhouse_program(directory), directory)


@pytest.fixture
def registry(directory: StackDir) -> Iterator[Child]:
    """A registry that a test may stop."""
    yield from running(registry_program(directory), directory)


def running(program: Program, directory: StackDir) -> Iterator[Child]:
    child = Child(program, directory.log(program.name))
    child.start()
    child.wait_ready()
    yield child
    child.stop()


async def say(partitions: list[Partition], seed: int, length: int, producer: Producer) -> None:
    for partition in partitions:
        await asyncio.to_thread(partition.say, numbers(seed + partition.stream.partition, length), producer)


async def caught_up(settings: Settings, partitions: list[Partition]) -> None:
    heads = {each.stream.partition: len(each.stream.events) for each in partitions}

    def done() -> bool:
        folded = clickhouse_checkpoints(settings.postgres)
        return {number: folded.get(number, 0) for number in heads} == heads

    await eventually(lambda: asyncio.to_thread(done), SECONDS)


def check_all(settings: Settings, partitions: list[Partition], rows: Rows) -> None:
    """Compare with the streams, then let verification compare with the log."""
    check([each.stream for each in partitions], rows)

    def open_records(partition: int) -> LogReader:
        return LogReader(settings, events(settings), {partition: 0})

    folded = clickhouse_checkpoints(settings.postgres)
    assert verify_clickhouse(settings, folded, open_records, decoder(settings))[1] == []


def planned(settings: Settings) -> int:
    with psycopg.connect(settings.postgres) as connection:
        [(found,)] = connection.execute("SELECT count(*) FROM clickhouse_v1.planned").fetchall()
    return int(found)


async def test_killed_behind_an_insert_and_before_its_answer_it_counts_each_event_once(
    ledger: Settings, producer: Producer, clickhouse: Client, rows: Rows, port: int
) -> None:
    partitions = [Partition(ledger, number) for number in range(2)]
    async with proxying(server_of(ledger.clickhouse)) as proxy:
        settings = replace(ledger, clickhouse=through(proxy, ledger.clickhouse))
        for seed in range(3):
            with process(settings, port, MODULE) as child:
                killed = kill_at_answer(proxy, child)
                await say(partitions, seed * 10, 300, producer)
                await asyncio.wait_for(killed.wait(), SECONDS)
            folded = sum(clickhouse_checkpoints(ledger.postgres).values())
            [(held,)] = rows("SELECT count() FROM job_events")
            assert planned(ledger) > 0
            assert int(str(held)) > folded  # it is there, and nobody knows
            await say(partitions, seed * 10 + 5, 100, producer)
            if seed:  # the process of seed 1 dies while it makes the insert of seed 0 again
                with process(settings, port, MODULE):
                    await caught_up(ledger, partitions)
    await asyncio.to_thread(check_all, ledger, partitions, rows)


def kill_at_answer(proxy: Proxy, child: subprocess.Popen[bytes]) -> asyncio.Event:
    """Kill the process when ClickHouse has answered its next insert, before it sees the answer."""
    killed = asyncio.Event()

    async def kill(passing: Passing) -> None:
        if passing.inserts_into("job_events") and not killed.is_set():
            child.kill()
            await asyncio.to_thread(child.wait)
            killed.set()
            raise Refused

    proxy.after = kill
    return killed


KILLS: tuple[float | None, ...] = (0.0, 0.03, 0.1, None)  # seconds into the insert; None: behind it


async def test_a_server_killed_during_inserts_has_each_event_once(
    ledger: Settings, producer: Producer, server: Child, port: int
) -> None:
    partitions = [Partition(ledger, number) for number in range(2)]
    async with proxying(server.program.endpoint) as proxy:
        own = replace(ledger, clickhouse=f"{server.program.endpoint}/jobledger")
        with process(replace(own, clickhouse=f"{proxy.url}/jobledger"), port, MODULE):
            for seed, delay in enumerate(KILLS):
                dead = asyncio.Event()
                aim(proxy, server, delay, dead)
                await say(partitions, seed * 10, 1500, producer)
                await asyncio.wait_for(dead.wait(), SECONDS)
                await eventually(lambda: not ready(port)["ready"], SECONDS)
                await asyncio.to_thread(server.stop)
                server.start()
                await asyncio.to_thread(server.wait_ready)
                await caught_up(ledger, partitions)
            await eventually(lambda: ready(port)["ready"], SECONDS)
    with closing(connect(own.clickhouse)) as client:
        rows = row_reader(client)
        await asyncio.to_thread(check_all, own, partitions, rows)


def row_reader(client: Client) -> Rows:
    return lambda query: [tuple(row) for row in client.query(query).result_rows]


def aim(proxy: Proxy, server: Child, delay: float | None, dead: asyncio.Event) -> None:
    """Kill the server at its next insert: so long after it was sent, or before its answer is passed on."""
    assert server.identity is not None
    pid = server.identity.pid
    shots: list[asyncio.Task[None]] = []

    async def shoot(seconds: float) -> None:
        await asyncio.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
        dead.set()

    async def before(passing: Passing) -> None:
        if passing.inserts_into("job_events") and delay is not None and not shots:
            shots.append(asyncio.create_task(shoot(delay)))

    async def after(passing: Passing) -> None:
        if passing.inserts_into("job_events") and delay is None and not shots:
            shots.append(asyncio.create_task(shoot(0)))
            await dead.wait()
            raise Refused

    proxy.before, proxy.after = before, after


async def test_a_registry_that_stands_still_is_waited_for(
    ledger: Settings, producer: Producer, registry: Child, clickhouse: Client, rows: Rows, port: int
) -> None:
    settings = replace(ledger, registry=registry.program.endpoint)
    partition = Partition(settings, 0)
    with process(settings, port, MODULE) as child:
        await say([partition], 0, 0, producer)
        await caught_up(ledger, [partition])
        assert registry.identity is not None
        os.kill(registry.identity.pid, signal.SIGSTOP)
        try:
            await say([partition], 1, 300, producer)
            await eventually(lambda: not ready(port)["ready"], SECONDS)
            await eventually(lambda: "registry" in str(ready(port)), SECONDS)
        finally:
            os.kill(registry.identity.pid, signal.SIGCONT)
        await caught_up(ledger, [partition])
        await eventually(lambda: ready(port)["ready"], SECONDS)
        assert child.poll() is None
    await asyncio.to_thread(check_all, settings, [partition], rows)


@pytest.mark.parametrize("how", ["refuses", "cannot", "hangs"])
async def test_a_registry_that_does_not_answer_clickhouse_is_waited_for(
    ledger: Settings, producer: Producer, registry: Child, clickhouse: Client, rows: Rows, port: int, how: str
) -> None:
    async with proxying(registry.program.endpoint) as proxy:
        settings = replace(ledger, registry=proxy.url)
        partition = Partition(replace(ledger, registry=registry.program.endpoint), 0)
        away = asyncio.Event()

        async def refuse(passing: Passing) -> None:
            if not passing.agent.startswith("Python"):
                away.set()
                if how == "hangs":
                    await asyncio.sleep(1000)
                raise Refused if how == "refuses" else Unavailable

        proxy.before = refuse
        with process(settings, port, MODULE) as child:
            await say([partition], 1, 300, producer)
            await asyncio.wait_for(away.wait(), SECONDS)
            await eventually(lambda: "ClickHouse" in str(ready(port)), SECONDS)
            assert rows("SELECT count() FROM job_events") == [(0,)]
            proxy.before = Proxy().before
            await caught_up(ledger, [partition])
            assert child.poll() is None
    await asyncio.to_thread(check_all, replace(ledger, registry=registry.program.endpoint), [partition], rows)
