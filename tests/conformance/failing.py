"""What fails, in part or on the way: lost answers, refusals, destinations that go away. Bound with the suite."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from services.ledger.reports import DeliveryResult
from services.writers.rows import row_of
from services.writers.warehouses.kinds import KINDS
from services.writers.warehouses.table import Table
from services.writers.warehouses.warehouse import Column, ColumnType, Refusal, Warehouse
from services.writers.writer import DestinationDown
from tests.conformance.place import SECRET, STOCK, TITLE, Opens, Place, block, job, key, odd_delivery, told_by


class Failing:
    """What the writer relies on, whatever the warehouse."""

    async def test_an_answer_that_was_lost(self, place: Place, table: Warehouse) -> None:
        """The writer hears that the warehouse is down, and writes the same again."""
        place.lose_answer()
        with pytest.raises(DestinationDown):
            await table.write(block(job("a", 1, 3), job("b")))
        assert await table.write(block(job("a", 1, 3), job("b"))) == {}
        assert await place.held() == [("a", 0, 1), ("a", 1, 1), ("a", 2, 1), ("b", 0, 1)]

    async def test_a_restart_between_the_write_and_its_ack(self, place: Place, opens: Opens) -> None:
        """The successor, which knows nothing, writes the same among other things."""
        before = opens()
        await before.columns()
        await before.write(block(job("a", 1, 2), columns=()))
        await before.close()
        after = opens()
        await after.columns()
        assert await after.write(block(job("a", 1, 2), job("b"), columns=())) == {}
        assert await place.held() == [("a", 0, 1), ("a", 1, 1), ("b", 0, 1)]

    async def test_an_instance_that_was_closed_opens_again(self, place: Place, table: Warehouse) -> None:
        """The writer closes what was idle."""
        await table.close()
        assert await table.write(block(job("a"))) == {}
        assert await place.held() == [("a", 0, 1)]

    async def test_rows_that_are_refused_are_refused_alone(self, place: Place, opens: Opens) -> None:
        """The owner made a column of another type than the writer thinks: one job's value does not fit it."""
        table = opens()
        await table.columns()
        await table.add_columns([Column(TITLE.name, ColumnType.INTEGER)])
        jobs = [job(f"j{number}", 1, 2, title="no number" if number == 3 else "7") for number in range(6)]
        refused = await table.write(block(*jobs, columns=(TITLE,)))
        assert list(refused) == [key("j3")]
        assert refused[key("j3")]
        assert "no number" not in refused[key("j3")]
        held = [(f"j{number}", item, 1) for number in (0, 1, 2, 4, 5) for item in range(2)]
        assert await place.held() == held
        assert await table.write(block(job("j3", 1, 1, title="8"), columns=(TITLE,))) == {}
        assert await place.held() == sorted([*held, ("j3", 0, 1)])

    async def test_a_block_that_fails_leaves_those_before_it_told_and_only_the_rest_is_tried_again(
        self, place: Place, opens: Opens
    ) -> None:
        """Of three jobs, a block each, the answer to the second is lost; the third was never sent."""
        kind = replace(KINDS["customer_postgres"], max_jobs=1)
        rows = [row_of(odd_delivery(name), b'{"normalized": {"items": [{}, {}]}}') for name in "abc"]
        told: dict[int, DeliveryResult] = {}

        async def write() -> None:
            async for some in Table(kind, opens()).write(rows):
                told.update(some)
                place.lose_answer()

        with pytest.raises(DestinationDown):
            await write()
        assert {at: each.error_type for at, each in told.items()} == {0: ""}
        assert [each.error_type for each in await told_by(Table(kind, opens()), rows[1:])] == ["", ""]
        assert await place.held() == [(name, item, 1) for name in "abc" for item in range(2)]

    async def test_a_secret_that_is_wrong_is_refused_and_not_quoted(self, place: Place) -> None:
        """Whatever is asked first."""
        await self._refused(place.open_badly, Refusal)

    async def test_a_server_that_is_away_is_told_apart_from_a_refusal(self, place: Place) -> None:
        """Trying again may help."""
        await self._refused(place.open_away, DestinationDown)

    async def _refused(self, opened: Opens, fault: type[Exception]) -> None:
        asked: list[Callable[[Warehouse], Any]] = [
            lambda table: table.columns(),
            lambda table: table.write(block(job("a"), columns=())),
            lambda table: table.erase([key("a")]),
            lambda table: table.add_columns([STOCK]),
        ]
        for ask in asked:
            table = opened()
            try:
                with pytest.raises(fault) as raised:
                    await ask(table)
            finally:
                await table.close()
            assert SECRET not in str(raised.value)
            assert str(raised.value)
