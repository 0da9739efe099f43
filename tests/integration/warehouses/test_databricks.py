"""The writer of Databricks against a server that plays its API: tokens, waiting, conflicts, what errors mean."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from yarl import URL

from services.runtime.networks import LOCAL
from services.writers.warehouses.databricks import execution, warehouse
from services.writers.warehouses.databricks.settings import DatabricksSecrets, DatabricksSettings
from services.writers.warehouses.databricks.warehouse import DatabricksWarehouse
from services.writers.warehouses.warehouse import Column, ColumnType, JobKey, Refusal
from services.writers.writer import DestinationDown
from tests.fakes.warehouses.blocks import TITLE, block, job
from tests.fakes.warehouses.databricks import (
    CLIENT_ID,
    CLIENT_SECRET,
    TOKEN,
    WAREHOUSE_ID,
    DatabricksFake,
    running,
)

Opened = Callable[..., DatabricksWarehouse]
TABLE = "lake.results.items"


@pytest.fixture
async def fake() -> AsyncIterator[DatabricksFake]:
    """A workspace with an empty schema."""
    async with running(DatabricksFake()) as fake:
        yield fake


@pytest.fixture
async def opened(fake: DatabricksFake, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Opened]:
    """Open the table as often as one likes; pauses between tries are short."""
    monkeypatch.setattr(warehouse, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(execution, "FIRST_LOOK_SECONDS", 0.001)
    all_opened = []

    def open_one(secrets: DatabricksSecrets | None = None, warehouse_id: str = WAREHOUSE_ID) -> DatabricksWarehouse:
        settings = DatabricksSettings("adb-1.example.com", warehouse_id, "lake", "results", "items")
        secrets = secrets or DatabricksSecrets(token=TOKEN)
        all_opened.append(DatabricksWarehouse(settings, secrets, allowed=LOCAL, base=fake.url))
        return all_opened[-1]

    yield open_one
    for each in all_opened:
        await each.close()


def held(fake: DatabricksFake) -> list[tuple[object, ...]]:
    """Return job, item and generation of each row that the table has."""
    return fake.delta.rows(f"SELECT _job_id, _item, _generation FROM {TABLE} ORDER BY ALL")


async def test_a_token_and_an_oauth_client_open_the_door(fake: DatabricksFake, opened: Opened) -> None:
    """The client's token is asked for once, and again when it is refused."""
    assert await opened().columns()
    client = opened(DatabricksSecrets(client_id=CLIENT_ID, client_secret=CLIENT_SECRET))
    await client.columns()
    await client.columns()
    assert fake.granted == 1
    fake.valid.clear()
    await client.columns()
    assert fake.granted == 2


async def test_a_wrong_secret_is_refused_and_not_quoted(opened: Opened) -> None:
    """Of whatever kind it is."""
    for secrets in (
        DatabricksSecrets(token="marker-1"),
        DatabricksSecrets(client_id=CLIENT_ID, client_secret="marker-1"),
    ):
        with pytest.raises(Refusal, match="check the secret") as refusal:
            await opened(secrets).columns()
        assert "marker-1" not in str(refusal.value)


async def test_a_warehouse_that_is_not_there_is_refused(opened: Opened) -> None:
    """With the names of the settings to look at."""
    with pytest.raises(Refusal, match="check host and warehouseId"):
        await opened(warehouse_id="other").columns()


async def test_a_block_whose_answer_was_lost_is_written_once(fake: DatabricksFake, opened: Opened) -> None:
    """The writer is told that the warehouse is down, and does it again."""
    table = opened()
    await table.columns()
    fake.lose_next = "MERGE"
    with pytest.raises(DestinationDown):
        await table.write(block(job("a", 1, 3)))
    assert held(fake) == [("a", item, 1) for item in range(3)]
    assert await table.write(block(job("a", 1, 3))) == {}
    assert held(fake) == [("a", item, 1) for item in range(3)]


async def test_a_statement_that_was_overtaken_is_tried_again_and_sees_what_overtook_it(
    fake: DatabricksFake, opened: Opened
) -> None:
    """A stale writer reads the table, a newer one commits, and the stale one's commit fails; it then writes nothing."""
    stale, newer = opened(), opened()
    await stale.columns()
    gate = fake.delta.before_commit = asyncio.Event()
    writing = asyncio.create_task(stale.write(block(job("a", 1, 5))))
    await fake.delta.held_back.wait()
    await newer.write(block(job("a", 2, 2)))
    gate.set()
    assert await writing == {}
    assert held(fake) == [("a", 0, 2), ("a", 1, 2)]


async def test_conflicts_without_end_are_said_to_the_writer(fake: DatabricksFake, opened: Opened) -> None:
    """As a warehouse that is down, for trying again may help."""
    table = opened()
    await table.columns()
    fake.conflicts = 100
    with pytest.raises(DestinationDown, match="another writer was first"):
        await table.write(block(job("a")))
    assert sum(each.startswith("MERGE") for each in fake.statements) == warehouse.TRIES


async def test_a_statement_that_takes_its_time_is_waited_for(fake: DatabricksFake, opened: Opened) -> None:
    """PENDING, RUNNING, then SUCCEEDED."""
    fake.looks = 3
    table = opened()
    await table.columns()
    assert await table.write(block(job("a"))) == {}
    assert held(fake) == [("a", 0, 1)]


async def test_a_statement_without_end_is_cancelled(
    fake: DatabricksFake, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And tried again later."""
    monkeypatch.setattr(execution, "STATEMENT_SECONDS", 0.0)
    fake.never_ends = True
    with pytest.raises(DestinationDown, match="took more than"):
        await opened().columns()
    assert len(fake.cancelled) == 1


async def test_a_workspace_that_is_too_busy_is_given_the_time_it_asks_for(fake: DatabricksFake, opened: Opened) -> None:
    """Where that is short; else the writer waits."""
    fake.refusals = [(429, {"Retry-After": "0"}), (503, {"Retry-After": "0"})]
    assert await opened().columns()
    for refusal in ((429, {"Retry-After": "3600"}), (503, {}), (500, {})):
        fake.refusals = [refusal]
        with pytest.raises(DestinationDown, match=f"HTTP {refusal[0]}"):
            await opened().columns()


async def test_redirects_are_not_followed(fake: DatabricksFake, opened: Opened) -> None:
    """They could lead anywhere."""
    fake.refusals = [(302, {"Location": str(fake.url)})]
    with pytest.raises(Refusal, match="HTTP 302"):
        await opened().columns()


@pytest.mark.parametrize(
    ("code", "message", "raised", "words"),
    [
        (
            "BAD_REQUEST",
            "[INSUFFICIENT_PERMISSIONS] User marker-2 ... SQLSTATE: 42501",
            Refusal,
            "what the token may do",
        ),
        ("BAD_REQUEST", "[TABLE_OR_VIEW_NOT_FOUND] marker-2. SQLSTATE: 42P01", Refusal, "are there"),
        ("TEMPORARILY_UNAVAILABLE", "the warehouse marker-2 is starting", DestinationDown, "TEMPORARILY_UNAVAILABLE"),
        ("DEADLINE_EXCEEDED", "marker-2", DestinationDown, "DEADLINE_EXCEEDED"),
    ],
)
async def test_what_errors_mean(
    fake: DatabricksFake, opened: Opened, code: str, message: str, raised: type[Exception], words: str
) -> None:
    """What only the owner can mend is refused; what passes is waited for; nothing of the message is passed on."""
    table = opened()
    await table.columns()
    fake.failures = [(code, message)]
    with pytest.raises(raised, match=words) as fault:
        await table.write(block(job("a")))
    assert "marker-2" not in str(fault.value)
    assert await table.write(block(job("a"))) == {}


async def test_a_value_that_does_not_fit_is_refused_for_its_job_alone(fake: DatabricksFake, opened: Opened) -> None:
    """The owner made the column another one than the writer thinks."""
    table = opened()
    await table.columns()
    await table.add_columns([Column("title", ColumnType.INTEGER)])
    jobs = [job(f"j{number}", 1, 1, "no number" if number == 3 else "7") for number in range(6)]
    refused = await table.write(block(*jobs, added=(TITLE,)))
    assert list(refused) == [JobKey("org", "j3")]
    assert "no number" not in refused[JobKey("org", "j3")]
    assert [name for name, *_ in held(fake)] == ["j0", "j1", "j2", "j4", "j5"]


async def test_a_block_that_is_too_large_is_written_in_parts_and_a_job_that_is_is_refused(
    fake: DatabricksFake, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job has to be one statement."""
    monkeypatch.setattr(warehouse, "STATEMENT_BYTES", 20_000)
    table = opened()
    await table.add_columns([TITLE])
    jobs = [job(f"j{number}", 1, 1, "x" * (30_000 if number == 2 else 8_000)) for number in range(4)]
    refused = await table.write(block(*jobs, added=(TITLE,)))
    assert list(refused) == [JobKey("org", "j2")]
    assert "larger than the 20000 bytes" in refused[JobKey("org", "j2")]
    assert "the largest is item 0, as 30" in refused[JobKey("org", "j2")]
    assert [name for name, *_ in held(fake)] == ["j0", "j1", "j3"]


async def test_columns_that_two_writers_add_at_once_are_added_once(fake: DatabricksFake, opened: Opened) -> None:
    """The second one is told that they are there, looks again, and adds what is missing."""
    table = opened()
    await table.columns()
    fake.just_before = {"ALTER": f"ALTER TABLE {TABLE} ADD COLUMN title TEXT"}
    await table.add_columns([TITLE, Column("price", ColumnType.NUMBER)])
    assert sum(each.startswith("ALTER") for each in fake.statements) == 2
    columns = await table.columns()
    assert (columns["title"], columns["price"]) == (ColumnType.TEXT, ColumnType.NUMBER)


async def test_an_item_may_have_fields_of_any_name(fake: DatabricksFake, opened: Opened) -> None:
    """Also the names that the statement uses itself."""
    table = opened()
    named = [
        Column(name, ColumnType.TEXT) for name in ("org", "job", "item", "items", "clears", "held", "new", "later")
    ]
    await table.add_columns(named)
    assert await table.write(block(job("a", 1, 2, *(column.name for column in named)), added=tuple(named))) == {}
    assert fake.delta.rows(f'SELECT "org", "new", "item" FROM {TABLE}') == [("org", "new", "item")] * 2


async def test_an_address_that_is_not_public_is_refused() -> None:
    """Whether it is written in the host or found behind its name."""
    for host in ("10.0.0.1", "127.0.0.1", "localhost"):
        settings = DatabricksSettings(host, WAREHOUSE_ID, "lake", "results", "items")
        table = DatabricksWarehouse(settings, DatabricksSecrets(token=TOKEN), base=URL(f"http://{host}:9"))
        with pytest.raises(Refusal, match="may not be reached"):
            await table.columns()
        await table.close()


async def test_an_erasure_overtakes_a_write_that_has_not_seen_it(fake: DatabricksFake, opened: Opened) -> None:
    """Although no statement spans the table and what is kept of erased jobs."""
    late, eraser = opened(), opened()
    await late.columns()
    gate = fake.delta.before_commit = asyncio.Event()
    writing = asyncio.create_task(late.write(block(job("a"), job("b"))))
    await fake.delta.held_back.wait()
    await eraser.erase([JobKey("org", "a")])
    gate.set()
    assert await writing == {}
    assert held(fake) == [("b", 0, 1)]
