"""The conformance suite of warehouses: `class TestMine(WarehouseConformance)` in a module with a fixture `place`.

Every test has a destination without a table, which the fixture gives as a `tests.conformance.place.Place`.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator

import pytest

from schemas.storable import storable_text
from services.writers.warehouses.warehouse import JOB_COLUMNS, Column, ColumnType, Warehouse
from services.writers.writer import DestinationDown
from tests.conformance.failing import Failing
from tests.conformance.large import LargeJobs
from tests.conformance.odd import OddItems
from tests.conformance.place import (
    ADDED,
    EXTRACTED,
    SUBMITTED,
    TITLE,
    Opens,
    Place,
    block,
    job,
    key,
)

LARGE = 10_000
HOSTILE = "Häuser\t\r\n\"'\\ 家 🏠 \u2028 \x01 NULL \\N {} %s ${x} \ufffe\U0010ffff"
NUMBERS = (1e308, -1e308, 5e-324, -0.0, 0.1, 1 / 3, 2.0**53 + 2)


class WarehouseConformance(OddItems, LargeJobs, Failing):
    """What the writer relies on, whatever the warehouse."""

    @pytest.fixture
    async def opens(self, place: Place) -> AsyncIterator[Opens]:
        """Open instances, which are closed behind the test."""
        opened = []

        def open_one() -> Warehouse:
            opened.append(place.open())
            return opened[-1]

        yield open_one
        for each in opened:
            await each.close()

    @pytest.fixture
    async def table(self, opens: Opens) -> Warehouse:
        """An instance, whose table has the columns of ADDED."""
        table = opens()
        await table.columns()
        await table.add_columns(ADDED)
        return table

    async def test_a_table_is_made_with_the_columns_of_jobs(self, opens: Opens) -> None:
        """Asked twice, and by two at once."""
        first, second = opens(), opens()
        wanted = {column.name: column.type for column in JOB_COLUMNS}
        for found in (*await asyncio.gather(first.columns(), second.columns()), await first.columns()):
            assert {name: found[name] for name in wanted} == wanted

    async def test_what_is_written_can_be_read(self, place: Place, table: Warehouse) -> None:
        """Every column, with the type that it has, and without a value too."""
        full = job("a", title="Lamp", stock=3, price=1.25, sold=True, seen_at=EXTRACTED + 1, tags='["a", {"b": null}]')
        assert await table.write(block(full, job("b"))) == {}
        one, none = sorted(await place.rows(), key=lambda row: row["_job_id"])
        assert one == {
            "_org_id": "acme",
            "_job_id": "a",
            "_item": 0,
            "_generation": 1,
            "_domain": "example.com",
            "_schema_id": "product",
            "_data_type": "product",
            "_submitted_at": SUBMITTED,
            "_extracted_at": EXTRACTED,
            "_data": {"item": 0, "of": 1},
            "title": "Lamp",
            "stock": 3,
            "price": 1.25,
            "sold": True,
            "seen_at": EXTRACTED + 1,
            "tags": ["a", {"b": None}],
        }
        assert [none[column.name] for column in ADDED] == [None] * len(ADDED)

    async def test_a_block_written_twice_is_there_once(self, place: Place, table: Warehouse) -> None:
        """By the same instance."""
        for _ in range(2):
            assert await table.write(block(job("a", items=3), job("b"))) == {}
        assert await place.held() == [("a", 0, 1), ("a", 1, 1), ("a", 2, 1), ("b", 0, 1)]

    async def test_redelivered_in_blocks_of_other_sizes_and_orders(
        self, place: Place, opens: Opens, table: Warehouse
    ) -> None:
        """By several instances, one after the other."""
        jobs = [job(f"j{number}", items=number % 3 + 1) for number in range(9)]
        await table.write(block(*jobs))
        order = random.Random(6)
        for size in (1, 2, 5):
            order.shuffle(jobs)
            for start in range(0, len(jobs), size):
                assert await opens().write(block(*jobs[start : start + size])) == {}
        assert await place.held() == sorted((each.key.job_id, row[2], 1) for each in jobs for row in each.rows)

    async def test_jobs_of_orgs_are_told_apart(self, place: Place, table: Warehouse) -> None:
        """Although they have one id."""
        await table.write(block(job("a", org_id="acme"), job("a", items=2, org_id="rival")))
        await table.write(block(job("a", 2, org_id="acme")))
        held = sorted((row["_org_id"], row["_item"], row["_generation"]) for row in await place.rows())
        assert held == [("acme", 0, 2), ("rival", 0, 1), ("rival", 1, 1)]

    async def test_a_newer_generation_takes_the_place_of_an_older_one(self, place: Place, table: Warehouse) -> None:
        """With fewer items, and with more."""
        for generation, items in ((1, 3), (2, 1), (3, 4)):
            assert await table.write(block(job("a", generation, items), job("other"))) == {}
            wanted = [("a", item, generation) for item in range(items)]
            assert await place.held() == [*wanted, ("other", 0, 1)]

    async def test_a_stale_generation_is_kept_out_and_refused_to_nobody(
        self, place: Place, opens: Opens, table: Warehouse
    ) -> None:
        """Also beside one that is not stale, and by an instance that has seen nothing."""
        await table.write(block(job("a", 2), job("b", 1)))
        assert await opens().write(block(job("a", 1, 3), job("b", 2, 2))) == {}
        assert await place.held() == [("a", 0, 2), ("b", 0, 2), ("b", 1, 2)]

    async def test_generations_that_are_written_at_once_leave_the_newest(self, place: Place, opens: Opens) -> None:
        """Each by an instance of its own, all about the same jobs; one that is overtaken may ask to be tried again."""
        await opens().columns()

        async def write(generation: int) -> None:
            table = opens()
            while True:
                try:
                    names = ("a", "b", "c") if generation % 2 else ("c", "b", "a")
                    jobs = (job(name, generation, generation) for name in names)
                    assert await table.write(block(*jobs, columns=())) == {}
                    return
                except DestinationDown:
                    continue

        async with asyncio.timeout(120):
            await asyncio.gather(*map(write, (3, 1, 4, 2)))
        assert await place.held() == [(name, item, 4) for name in "abc" for item in range(4)]

    async def test_a_generation_without_rows_takes_rows_away_and_counts(
        self, place: Place, opens: Opens, table: Warehouse
    ) -> None:
        """An older one does not come back behind it."""
        await table.write(block(job("a", 1, 2)))
        assert await table.write(block(job("a", 2, 0))) == {}
        assert await place.held() == []
        assert await opens().write(block(job("a", 1, 2))) == {}
        assert await place.held() == []
        await table.write(block(job("a", 3)))
        assert await place.held() == [("a", 0, 3)]

    async def test_a_block_without_jobs_is_no_fault(self, place: Place, table: Warehouse) -> None:
        """Nor one without a row."""
        assert await table.write(block()) == {}
        assert await table.write(block(job("a", items=0))) == {}
        assert await place.held() == []

    async def test_columns_are_added_and_those_that_are_there_stay(self, place: Place, table: Warehouse) -> None:
        """Rows from before have no value in them."""
        await table.write(block(job("a", title="old")))
        await table.add_columns([TITLE, Column("brand", ColumnType.TEXT), Column("weight", ColumnType.NUMBER)])
        columns = await table.columns()
        assert (columns["title"], columns["brand"], columns["weight"]) == (
            ColumnType.TEXT,
            ColumnType.TEXT,
            ColumnType.NUMBER,
        )
        [row] = await place.rows()
        assert (row["title"], row["brand"], row["weight"]) == ("old", None, None)

    async def test_columns_that_two_instances_add_at_once_are_added_once(
        self, place: Place, opens: Opens, table: Warehouse
    ) -> None:
        """Both go on, and write to them."""
        other = opens()
        await other.columns()
        brand, weight = Column("brand", ColumnType.TEXT), Column("weight", ColumnType.NUMBER)
        await asyncio.gather(table.add_columns([brand]), other.add_columns([brand, weight]))
        assert (await table.columns())["weight"] is ColumnType.NUMBER
        assert await other.write(block(job("a"))) == {}
        assert [row["brand"] for row in await place.rows()] == [None]

    async def test_a_column_of_each_type_is_known_again(self, opens: Opens, table: Warehouse) -> None:
        """By an instance that did not make it."""
        found = await opens().columns()
        assert {column.name: found[column.name] for column in ADDED} == {each.name: each.type for each in ADDED}

    async def test_texts_come_back_as_they_are(self, place: Place, table: Warehouse) -> None:
        """Whatever characters they have; NUL and halves of surrogate pairs the writer has replaced."""
        texts = [HOSTILE, "", " ", storable_text("nul \0 half \ud83d"), "x" * 100_000]
        jobs = [job(f"j{number}", title=text, tags=json.dumps([text])) for number, text in enumerate(texts)]
        assert await table.write(block(*jobs)) == {}
        rows = sorted(await place.rows(), key=lambda row: row["_job_id"])
        assert [row["title"] for row in rows] == texts
        assert [row["tags"] for row in rows] == [[text] for text in texts]

    async def test_numbers_at_the_edge_come_back_as_they_are(self, place: Place, table: Warehouse) -> None:
        """Integers of 64 bits, and doubles; what a zero's sign is may get lost."""
        integers = (2**63 - 1, -(2**63), 0, 2**53 + 1)
        jobs = [job(f"i{number}", stock=value) for number, value in enumerate(integers)]
        jobs += [job(f"n{number}", price=value) for number, value in enumerate(NUMBERS)]
        assert await table.write(block(*jobs)) == {}
        rows = sorted(await place.rows(), key=lambda row: row["_job_id"])
        assert [row["stock"] for row in rows if row["_job_id"][0] == "i"] == list(integers)
        assert [row["price"] for row in rows if row["_job_id"][0] == "n"] == list(NUMBERS)

    async def test_a_block_of_many_rows(self, place: Place, table: Warehouse) -> None:
        """Of few large jobs, then again of as many small ones."""
        large = [job(f"l{number}", items=LARGE // 4, title="Lamp") for number in range(4)]
        assert await table.write(block(*large)) == {}
        assert len(await place.held()) == LARGE
        assert await table.write(block(*large[:2])) == {}
        held = await place.held()
        assert len(held) == len(set(held)) == LARGE

    async def test_an_erased_job_is_gone_for_good(self, place: Place, opens: Opens, table: Warehouse) -> None:
        """Twice, with one that never was there; what is written late does not come back."""
        await table.write(block(job("a", 2, 3), job("b")))
        for _ in range(2):
            await table.erase([key("a"), key("never")])
        assert await place.held() == [("b", 0, 1)]
        assert await opens().write(block(job("a", 2, 3), job("a2"), job("never"))) == {}
        assert await place.held() == [("a2", 0, 1), ("b", 0, 1)]

    async def test_an_erasure_is_the_first_thing_asked(self, place: Place, opens: Opens) -> None:
        """Of a table that is not there yet."""
        await opens().erase([key("a")])
        assert await opens().write(block(job("a"), job("b"), columns=())) == {}
        assert await place.held() == [("b", 0, 1)]
