"""The writer of Snowflake against fakesnow: logins, turns of writers, answers that are lost, what errors mean."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from services.runtime.networks import LOCAL
from services.writers.warehouses.snowflake import warehouse as warehouses
from services.writers.warehouses.snowflake.session import Session
from services.writers.warehouses.snowflake.settings import SnowflakeSecrets, SnowflakeSettings
from services.writers.warehouses.snowflake.warehouse import SnowflakeWarehouse
from services.writers.warehouses.warehouse import Column, ColumnType, JobKey, Refusal
from services.writers.writer import DestinationDown
from tests.fakes.warehouses.blocks import TITLE, block, job
from tests.fakes.warehouses.snowflake import PASSWORD, TOKEN, USER, SnowflakeFake, running

Opened = Callable[..., SnowflakeWarehouse]


@pytest.fixture
async def fake() -> AsyncIterator[SnowflakeFake]:
    """A server that nobody has asked yet."""
    async with running(SnowflakeFake()) as fake:
        yield fake


@pytest.fixture
async def opened(fake: SnowflakeFake) -> AsyncIterator[Opened]:
    """Open a table, of this test alone, as often as one likes."""
    database = f"db_{uuid.uuid4().hex}"
    all_opened = []

    def open_one(secrets: SnowflakeSecrets | None = None, patience: int = 60) -> SnowflakeWarehouse:
        named = {
            "account": "acc",
            "user": USER,
            "database": database,
            "schema": "s",
            "table": "items",
            "warehouse": "w",
            "host": "127.0.0.1",
        }
        settings = SnowflakeSettings(**named)
        session = Session(
            settings,
            secrets or SnowflakeSecrets(password=PASSWORD),
            protocol="http",
            port=fake.port,
            patience_seconds=patience,
        )
        all_opened.append(SnowflakeWarehouse(settings, session, allowed=LOCAL))
        return all_opened[-1]

    yield open_one
    fake.down = False
    for each in all_opened:
        await each.close()


async def rows(warehouse: SnowflakeWarehouse, columns: str = '"_JOB_ID", "_ITEM", "_GENERATION"') -> list[Any]:
    """Return what the table has."""
    query = f"SELECT {columns} FROM {warehouse.settings.place}"
    return sorted(await asyncio.to_thread(warehouse.session.execute, query))


async def test_a_password_a_token_and_a_key_pair_open_the_door(fake: SnowflakeFake, opened: Opened) -> None:
    """The key pair signs a login, which the server verifies with the public key that it knows."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    fake.public_key = public.decode()
    plain = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"open")).decode()
    for secrets in (
        SnowflakeSecrets(password=PASSWORD),
        SnowflakeSecrets(token=TOKEN),
        SnowflakeSecrets(private_key=plain),
        SnowflakeSecrets(private_key=locked, private_key_passphrase="open"),
    ):
        assert await opened(secrets).columns()
    assert fake.logins == 4


async def test_a_wrong_secret_is_refused_and_not_quoted(fake: SnowflakeFake, opened: Opened) -> None:
    """Of whatever kind it is."""
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    known = rsa.generate_private_key(public_exponent=65537, key_size=2048).public_key()
    fake.public_key = known.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    wrong = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    for secrets in (
        SnowflakeSecrets(password="marker-1"),
        SnowflakeSecrets(token="marker-1"),
        SnowflakeSecrets(private_key=wrong),
    ):
        with pytest.raises(Refusal, match="check account, user, role and the secret") as refusal:
            await opened(secrets).columns()
        assert "marker-1" not in str(refusal.value)
    assert fake.logins == 0


async def test_writers_of_a_job_take_turns_and_the_stale_one_loses(opened: Opened) -> None:
    """However they meet: eight writers, each with a generation of its own, come at the same time."""
    writers = [opened() for _ in range(8)]
    await writers[0].columns()
    generations = [3, 7, 1, 8, 5, 2, 6, 4]
    await asyncio.gather(
        *(
            each.write(block(job("a", generation, generation), job("b", generation)))
            for each, generation in zip(writers, generations, strict=True)
        )
    )
    assert await rows(writers[0]) == [*(("a", item, 8) for item in range(8)), ("b", 0, 8)]


async def test_a_block_whose_commit_was_not_answered_is_written_once(fake: SnowflakeFake, opened: Opened) -> None:
    """The writer is told that the warehouse is down, and does it again."""
    warehouse = opened()
    await warehouse.columns()
    fake.lose_next = "COMMIT"
    with pytest.raises(DestinationDown):
        await warehouse.write(block(job("a", 1, 3)))
    assert await warehouse.write(block(job("a", 1, 3))) == {}
    assert await rows(warehouse) == [("a", item, 1) for item in range(3)]


async def test_an_error_within_a_transaction_leaves_nothing_of_it(fake: SnowflakeFake, opened: Opened) -> None:
    """The rows that were there are there."""
    warehouse = opened()
    await warehouse.columns()
    await warehouse.write(block(job("a", 1, 2)))
    fake.refuse_next = {"INSERT": "000604 57014"}
    with pytest.raises(DestinationDown, match="000604"):
        await warehouse.write(block(job("a", 2, 1)))
    assert await rows(opened()) == [("a", item, 1) for item in range(2)]


@pytest.mark.parametrize(
    ("error", "raised", "words"),
    [
        ("003001 42501", Refusal, "what the role may do"),
        ("002003 02000", Refusal, "what the role may do"),
        ("090073 57014", Refusal, "raise its quota"),
        ("000606 57P03", DestinationDown, "suspended"),
        ("000625 57014", DestinationDown, "000625"),
        ("390114 08001", DestinationDown, "the session is over"),
    ],
)
async def test_what_errors_mean(
    fake: SnowflakeFake, opened: Opened, error: str, raised: type[Exception], words: str
) -> None:
    """What only the owner can mend is refused; what passes is waited for; and then all goes on."""
    warehouse = opened()
    await warehouse.columns()
    fake.refuse_next = {"UPDATE": error}
    with pytest.raises(raised, match=words):
        await warehouse.write(block(job("a")))
    assert await warehouse.write(block(job("a"))) == {}


async def test_a_server_that_is_down_is_down(fake: SnowflakeFake, opened: Opened) -> None:
    """And is asked again later."""
    fake.down = True
    warehouse = opened(patience=2)
    with pytest.raises(DestinationDown):
        await warehouse.columns()
    fake.down = False
    assert await warehouse.columns()


async def test_a_value_that_does_not_fit_is_refused_for_its_job_alone(opened: Opened) -> None:
    """The owner made the column another one than the writer thinks."""
    warehouse = opened()
    await warehouse.columns()
    await warehouse.add_columns([Column("title", ColumnType.INTEGER)])
    jobs = [job(f"j{number}", 1, 1, "no number" if number == 3 else "7") for number in range(6)]
    refused = await warehouse.write(block(*jobs, added=(TITLE,)))
    assert list(refused) == [JobKey("org", "j3")]
    assert "no number" not in refused[JobKey("org", "j3")]
    assert [name for name, *_ in await rows(warehouse)] == ["j0", "j1", "j2", "j4", "j5"]


async def test_columns_that_the_owner_made_of_other_types_are_left_out(opened: Opened) -> None:
    """As those whose names only quotes can tell apart."""
    warehouse = opened()
    await warehouse.columns()
    for declared in ("AMOUNT NUMBER(10,2)", '"lower" VARCHAR', "SEEN TIMESTAMP_TZ", "NOTE VARCHAR(20)"):
        await asyncio.to_thread(
            warehouse.session.execute, f"ALTER TABLE {warehouse.settings.place} ADD COLUMN {declared}"
        )
    columns = await warehouse.columns()
    assert columns["note"] is ColumnType.TEXT
    assert not {"amount", "lower", "seen"} & columns.keys()


async def test_a_job_larger_than_a_bind_is_sent_in_several(
    fake: SnowflakeFake, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them in one transaction."""
    monkeypatch.setattr(warehouses, "BOUND_BYTES", 81_000)
    warehouse = opened()
    await warehouse.columns()
    large = "x" * 10_000
    await warehouse.add_columns([TITLE])
    fake.statements.clear()
    assert await warehouse.write(block(job("a", 1, 20, large), added=(TITLE,))) == {}
    assert sum(each.startswith("INSERT") for each in fake.statements) == 3
    assert sum(each.startswith("BEGIN") for each in fake.statements) == 1
    assert await rows(warehouse, 'COUNT(*), SUM(LENGTH("TITLE"))') == [(20, 200_000)]


async def test_no_statement_is_larger_than_snowflake_keeps_and_a_large_row_goes_alone(
    fake: SnowflakeFake, opened: Opened
) -> None:
    """1 MB with what is bound, as "Limits on Query Text Size" says; a larger row is run, and one of 16 MiB refused."""
    warehouse = opened()
    await warehouse.columns()
    await warehouse.add_columns([TITLE])
    assert await warehouse.write(block(job("a", 1, 2500, "x" * 1000), added=(TITLE,))) == {}
    assert 900_000 < fake.largest <= 1_000_000
    jobs = [job("b", 1, 2, "x" * 1_500_000), job("c", 1, 1, "x" * (16 * 1024 * 1024)), job("d", 1, 1, "x")]
    refused = await warehouse.write(block(*jobs, added=(TITLE,)))
    assert list(refused) == [JobKey("org", "c")]
    assert "row 0 is" in refused[JobKey("org", "c")]
    query = f'SELECT "_JOB_ID", COUNT(*) FROM {warehouse.settings.place} GROUP BY 1'
    assert sorted(await asyncio.to_thread(warehouse.session.execute, query)) == [("a", 2500), ("b", 2), ("d", 1)]


async def test_a_host_that_is_no_account_is_refused(opened: Opened) -> None:
    """The connector resolves names itself, so only Snowflake's own may be given."""
    warehouse = opened()
    strict = SnowflakeWarehouse(warehouse.settings, warehouse.session)
    with pytest.raises(Refusal, match="host must end with"):
        await strict.columns()
