"""BigQuery's own: tokens, names of jobs, what its errors mean. What all warehouses do is in the conformance suite."""

import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest

from services.runtime.networks import LOCAL, Networks
from services.writers.warehouses.bigquery import rows
from services.writers.warehouses.bigquery.settings import BigQuerySettings, ServiceAccount
from services.writers.warehouses.bigquery.warehouse import BigQueryWarehouse
from services.writers.warehouses.warehouse import Block, Column, ColumnType, JobRows, Refusal
from services.writers.writer import DestinationDown
from tests.conformance.place import ADDED, SECRET, TAGS, TITLE, Place, block, job, key
from tests.conformance.suite import WarehouseConformance
from tests.fakes.warehouses.bigquery.server import DATASET, PROJECT, FakeBigQuery, serving
from tests.fakes.warehouses.bigquery.shapes import Field

TABLE = "items"
Open = Callable[..., BigQueryWarehouse]


@pytest.fixture
async def fake() -> AsyncIterator[FakeBigQuery]:
    async with serving() as fake:
        yield fake


@pytest.fixture
async def open_as(fake: FakeBigQuery) -> AsyncIterator[Open]:
    """Return warehouses as other processes would have them."""
    opened: list[BigQueryWarehouse] = []
    own = msgspec.convert(fake.tokens.key_file(), ServiceAccount)

    def open_one(dataset: str = DATASET, *, allowed: Networks = LOCAL, **account: str) -> BigQueryWarehouse:
        key_file = msgspec.convert({**fake.tokens.key_file(), **account}, ServiceAccount) if account else own
        settings = BigQuerySettings(PROJECT, dataset, TABLE, fake.url)
        opened.append(BigQueryWarehouse(settings, key_file, allowed=allowed))
        return opened[-1]

    yield open_one
    for warehouse in opened:
        await warehouse.close()


@pytest.fixture
async def warehouse(open_as: Open) -> BigQueryWarehouse:
    warehouse = open_as()
    await warehouse.columns()
    await warehouse.add_columns(ADDED)
    return warehouse


class BigQueryPlace(Place):
    """A dataset without a table."""

    def __init__(self, fake: FakeBigQuery, open_as: Open) -> None:
        self.fake = fake
        self.open_as = open_as

    def open(self) -> BigQueryWarehouse:
        return self.open_as()

    def open_badly(self) -> BigQueryWarehouse:
        return self.open_as(client_email=f"{SECRET}@else.iam.gserviceaccount.com", private_key_id=SECRET)

    def open_away(self) -> BigQueryWarehouse:
        return self.open_as(private_key_id=SECRET, token_uri="http://127.0.0.1:9/token")

    def lose_answer(self) -> None:
        self.fake.faults["jobs.query"].append("lost")

    async def rows(self) -> list[dict[str, Any]]:
        names = self.fake.columns(TABLE)
        rows = self.fake.engine.rows(DATASET, TABLE, names)
        return [{name: _read(name, value) for name, value in zip(names, row, strict=True)} for row in rows]


def _read(name: str, value: Any) -> Any:
    return json.loads(value) if name in ("_data", TAGS.name) and value is not None else value


@pytest.fixture
async def place(fake: FakeBigQuery, open_as: Open) -> BigQueryPlace:
    """A destination without a table."""
    return BigQueryPlace(fake, open_as)


class TestConformance(WarehouseConformance):
    """What every warehouse does."""


def held(fake: FakeBigQuery) -> Counter[tuple[str, int, int]]:
    """Return which items of which generation the table has."""
    return Counter(fake.engine.rows(DATASET, TABLE, ["_job_id", "_generation", "_item"]))


async def test_values_at_the_edge_are_read_as_they_were_written(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse
) -> None:
    """Beside what the suite has: NUL, what no double is, the first microsecond."""
    edge: dict[str, Any] = {"title": "\0", "price": float("-inf"), "seen_at": -62_135_596_800_000_000}
    assert await warehouse.write(block(job("a", **edge))) == {}
    assert fake.engine.rows(DATASET, TABLE, list(edge)) == [tuple(edge.values())]


@pytest.mark.parametrize(
    ("text", "kept"), [("18446744073709551616", "1.8446744073709552e+19"), ("18446744073709551615",) * 2]
)
async def test_numbers_in_json_are_rounded_where_bigquery_has_none_of_them(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse, text: str, kept: str
) -> None:
    assert await warehouse.write(block(job("a", tags=text))) == {}
    assert fake.engine.rows(DATASET, TABLE, ["tags"]) == [(kept,)]


async def test_a_number_in_json_that_no_double_comes_near_refuses_its_job_alone(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse
) -> None:
    refused = await warehouse.write(block(job("a", tags="1e400"), job("b"), job("c")))
    assert refused == {key("a"): "BigQuery refuses a row (invalidQuery)"}
    assert set(held(fake)) == {("b", 1, 0), ("c", 1, 0)}


@pytest.mark.parametrize("call", ["tables.insert", "jobs.load", "jobs.query", "tables.delete"])
async def test_a_block_whose_answer_was_lost_is_written_once(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse, call: str, open_as: Open
) -> None:
    fake.faults[call].append("lost")
    with contextlib.suppress(DestinationDown):  # not where the client itself sends a call again that may be repeated
        await warehouse.write(block(job("a", items=2), job("b")))
    again = open_as()
    assert await again.write(block(job("a", items=2), job("b"))) == {}
    assert held(fake) == {("a", 1, 0): 1, ("a", 1, 1): 1, ("b", 1, 0): 1}
    assert fake.loads == 1
    assert list(fake.tables) == [TABLE, f"{TABLE}__generations"]


async def test_rows_that_went_away_before_they_were_taken_over_are_loaded_again(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse
) -> None:
    """The load job of these rows has ended: without a look at the staging table they would count as written."""
    fake.faults["jobs.query"].append("backendError")
    with pytest.raises(DestinationDown):
        await warehouse.write(block(job("a")))
    for staged in [name for name in fake.tables if "__staged_" in name]:
        fake.drop(staged)
    with pytest.raises(DestinationDown):
        await warehouse.write(block(job("a")))
    assert not held(fake)
    assert await warehouse.write(block(job("a"))) == {}
    assert held(fake) == {("a", 1, 0): 1}


@pytest.mark.parametrize(
    ("call", "reason"), [("jobs.load", "quotaExceeded"), ("jobs.query", "backendError"), ("jobs.query", "invalidQuery")]
)
async def test_a_job_that_ends_with_what_passes_is_tried_under_another_name(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse, call: str, reason: str
) -> None:
    fake.faults[call] += [f"job:{reason}"] * 2
    for _ in range(2):
        with pytest.raises(DestinationDown):
            await warehouse.write(block(job("a")))
    assert await warehouse.write(block(job("a"))) == {}
    assert held(fake) == {("a", 1, 0): 1}


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("tables.get", "rateLimitExceeded"),
        ("tables.insert", "quotaExceeded"),
        ("upload.begin", "backendError"),
        ("jobs.load", "rateLimitExceeded"),
        ("jobs.query", "quotaExceeded"),
    ],
)
async def test_quotas_and_outages_are_waited_for(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse, call: str, reason: str
) -> None:
    fake.faults[call].append(reason)
    with pytest.raises(DestinationDown, match=reason):
        await (warehouse.columns() if call == "tables.get" else warehouse.write(block(job("a"))))
    await warehouse.columns()
    assert await warehouse.write(block(job("a"))) == {}
    assert held(fake) == {("a", 1, 0): 1}


async def test_the_quota_of_loads_into_a_table_is_not_used_up_and_that_of_the_project_is_waited_for(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse
) -> None:
    """Each block has a staging table of its own; 1,500 a day, and 100,000, are three and four here."""
    fake.limits.loads_of_table, fake.limits.loads = 3, 4
    for number in range(4):
        assert await warehouse.write(block(job(f"j{number}"))) == {}
    with pytest.raises(DestinationDown, match="quotaExceeded"):
        await warehouse.write(block(job("j4")))
    fake.limits.loads = 100
    assert await warehouse.write(block(job("j4"))) == {}
    assert len(held(fake)) == 5


async def test_a_row_that_is_larger_than_a_load_takes_is_refused_alone_and_named(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100 MB, which are 1,000 bytes here; also where only BigQuery thinks so."""
    fake.limits.row_bytes = 1000
    jobs = [job("a"), job("b", title="x" * 1000), job("c")]
    assert await warehouse.write(block(*jobs)) == {key("b"): "BigQuery refuses a row (invalid)"}
    monkeypatch.setattr(rows, "MAX_ROW_BYTES", 1000)
    assert await warehouse.write(block(*jobs)) == {
        key("b"): "item 0 is larger than the 1000 bytes of a row of BigQuery"
    }
    assert set(held(fake)) == {("a", 1, 0), ("c", 1, 0)}


async def test_a_statement_about_as_many_columns_as_a_table_gets_is_not_too_long(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse
) -> None:
    columns = [Column(f"{number:03}".rjust(63, "x"), ColumnType.TEXT) for number in range(500)]
    await warehouse.add_columns(columns)
    whole = block(job("a"))
    [written] = whole.jobs
    row = [*written.rows[0], *["v"] * len(columns)]
    wide = Block([*whole.columns, *columns], [JobRows(written.key, 1, [row])])
    assert await warehouse.write(wide) == {}
    fake.limits.query_bytes = 1000
    with pytest.raises(Refusal, match="responseTooLarge"):
        await warehouse.write(block(job("a", 2)))


async def test_missing_rights_are_told_and_the_key_is_not(fake: FakeBigQuery, warehouse: BigQueryWarehouse) -> None:
    fake.faults["jobs.query"].append("accessDenied")
    with pytest.raises(Refusal, match="BigQuery Job User") as refused:
        await warehouse.write(block(job("a")))
    assert fake.tokens.given[0] not in str(refused.value)


async def test_only_jobs_with_bad_rows_are_refused_and_their_data_is_not_quoted(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse
) -> None:
    """The load job names the byte where a row begins: three loads do, where halves would take nine."""
    jobs = [job(f"job-{number}", items=2) for number in range(20)]
    jobs[4], jobs[17] = job("job-4", stock=1 << 63), job("job-17", items=3, price="a secret")
    refused = await warehouse.write(block(*jobs))
    assert refused == dict.fromkeys([key("job-4"), key("job-17")], "BigQuery refuses a row (invalid)")
    assert {name for name, _, _ in held(fake)} == {each.key.job_id for each in jobs} - {"job-4", "job-17"}
    assert fake.loads == 3


async def test_jobs_that_break_a_rule_of_the_owners_table_are_found_by_halves(
    fake: FakeBigQuery, open_as: Open
) -> None:
    fake.make(TABLE, [Field("Title", "STRING", max_length="5"), Field("day", "NUMERIC")])
    warehouse = open_as()
    found = await warehouse.columns()
    assert found["title"] is ColumnType.TEXT
    assert "day" not in found
    jobs = [job(f"j{number}", title="x" * number) for number in range(9)]
    refused = await warehouse.write(block(*jobs, columns=[TITLE]))
    assert sorted(each.job_id for each in refused) == ["j6", "j7", "j8"]
    assert sorted(name for name, _, _ in held(fake)) == [f"j{number}" for number in range(6)]


async def test_times_outside_of_the_calendar_are_refused_alone(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse
) -> None:
    refused = await warehouse.write(block(job("a", seen_at=1 << 62), job("b")))
    assert list(refused) == [key("a")]
    assert set(held(fake)) == {("b", 1, 0)}


async def test_tables_that_their_owner_dropped_are_made_again(fake: FakeBigQuery, warehouse: BigQueryWarehouse) -> None:
    await warehouse.write(block(job("a")))
    for table in (TABLE, f"{TABLE}__generations"):
        fake.drop(table)
    with pytest.raises(DestinationDown):
        await warehouse.write(block(job("a"), job("b", title="Lamp")))
    assert await warehouse.write(block(job("a"), job("b", title="Lamp"))) == {}
    assert Counter(fake.engine.rows(DATASET, TABLE, ["_job_id", "title"])) == {("a", None): 1, ("b", "Lamp"): 1}


async def test_a_job_that_runs_is_waited_for(fake: FakeBigQuery, warehouse: BigQueryWarehouse) -> None:
    fake.looks = 2
    assert await warehouse.write(block(job("a"))) == {}
    assert held(fake) == {("a", 1, 0): 1}
    assert fake.calls.count("jobs.get") == 4


async def test_a_token_is_used_until_shortly_before_its_end(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse, open_as: Open
) -> None:
    await warehouse.columns()
    assert len(fake.tokens.given) == 1
    fake.tokens.lives_seconds = 30  # less than the time before its end that a token is not used any more
    other = open_as()
    await other.columns()
    assert len(fake.tokens.given) >= 3


async def test_a_token_that_is_not_taken_any_more_is_renewed(fake: FakeBigQuery, warehouse: BigQueryWarehouse) -> None:
    fake.tokens.good.clear()
    assert await warehouse.write(block(job("a"))) == {}
    assert len(fake.tokens.given) == 2


async def test_a_key_that_is_not_the_accounts_is_refused(open_as: Open) -> None:
    stranger = open_as(client_email="somebody@else.iam.gserviceaccount.com")
    with pytest.raises(Refusal, match="no token"):
        await stranger.columns()


async def test_columns_are_added_beside_those_that_somebody_else_adds_at_the_same_time(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse
) -> None:
    fake.faults["tables.patch"].append("conditionNotMet")
    await warehouse.add_columns([Column("colour", ColumnType.TEXT), Column("_table_x", ColumnType.TEXT)])
    assert list(await warehouse.columns())[-1] == "colour"


async def test_a_dataset_that_is_not_there_is_named(open_as: Open) -> None:
    nowhere = open_as("nowhere")
    with pytest.raises(Refusal, match=f"no dataset {PROJECT}.nowhere"):
        await nowhere.columns()


async def test_private_addresses_are_not_reached(fake: FakeBigQuery, open_as: Open) -> None:
    inside = open_as(allowed=())
    with pytest.raises(Refusal, match="may not be reached"):
        await inside.columns()
    assert not fake.calls
    assert not fake.tokens.given


async def test_every_transaction_changes_a_row_that_all_change(
    fake: FakeBigQuery, warehouse: BigQueryWarehouse
) -> None:
    """BigQuery cancels one of two transactions that change rows of a table, and lets those that only add rows be."""
    kept = f"{TABLE}__generations"
    for _ in range(2):
        await warehouse.write(block(job("a")))
        await warehouse.erase([key("b")])
        assert Counter(fake.engine.rows(DATASET, kept, ["_job_id"]))[("",)] == 1


async def test_an_erased_job_does_not_come_back_late(fake: FakeBigQuery, warehouse: BigQueryWarehouse) -> None:
    await warehouse.write(block(job("a"), job("b"), job("a", org_id="other")))
    await warehouse.erase([key("a"), key("never written")])
    await warehouse.write(block(job("a", generation=2), job("b", generation=2)))
    assert sorted(fake.engine.rows(DATASET, TABLE, ["_org_id", "_job_id", "_generation"])) == [
        ("acme", "b", 2),
        ("other", "a", 1),
    ]
