"""Items of any shape, from what an extractor has read to what people see in the table: bound with the suite."""

import json
from collections.abc import Callable
from typing import Any

from schemas.storable import storable_text
from services.writers.rows import row_of
from services.writers.warehouses.kinds import KINDS
from services.writers.warehouses.table import Table
from services.writers.warehouses.warehouse import Warehouse
from tests.conformance.place import Place, odd_delivery

LONG = "x" * 300
ITEMS: list[dict[str, Any]] = [
    {LONG: 1, "Title": "a", "title": "b", "TITLE": "c", "": "none", "家": "none", "n": 2**70},
    {"Nested": {"a": [{"b": "\u0001 家 \U0010ffff"}]}, "n": 7, "empty": "", "none": None},
    {},
]
GIVEN: dict[str, Any] = {
    "odd": {"items": ITEMS},
    "one": {"items": ["no object"], "Title": "d"},
    "nothing": {"items": []},
    "huge": {"price": 1e308, "title": storable_text("nul \0")},
}


class OddItems:
    """What the writer relies on, whatever the warehouse."""

    async def test_items_of_any_shape_become_rows(self, place: Place, opens: Callable[[], Warehouse]) -> None:
        """Names that are long or differ by case only, what no column holds, no items at all, and what is no object."""
        rows = [row_of(odd_delivery(name), json.dumps({"normalized": value}).encode()) for name, value in GIVEN.items()]
        results = await Table(KINDS["customer_postgres"], opens()).write(rows)
        assert [(each.error_type, each.rows) for each in results] == [("", 3), ("", 1), ("", 0), ("", 1)]
        found = {(row["_job_id"], row["_item"]): row for row in await place.rows()}
        assert sorted(found) == [("huge", 0), ("odd", 0), ("odd", 1), ("odd", 2), ("one", 0)]
        odd = [found["odd", item] for item in range(3)]
        assert [row[LONG[:63]] for row in odd] == [1, None, None]
        assert [row["title"] for row in odd] == ["a", None, None]
        assert [row["n"] for row in odd] == [None, 7, None]
        assert (_read(odd[1]["nested"]), odd[1]["empty"]) == (ITEMS[1]["Nested"], "")
        assert [row["_data"] for row in odd[1:]] == ITEMS[1:]
        assert found["one", 0]["_data"] == GIVEN["one"]
        assert found["huge", 0]["title"] == "nul \ufffd"


def _read(value: Any) -> Any:
    """Return JSON of a column that the binding does not know, as its text where it is kept as one."""
    return json.loads(value) if isinstance(value, str) else value
