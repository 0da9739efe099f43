"""Items of any shape, from what an extractor has read to what people see in the table: bound with the suite."""

import json
from typing import Any

from schemas.storable import storable_text
from services.writers.rows import row_of
from services.writers.warehouses.kinds import KINDS
from services.writers.warehouses.table import Table
from tests.conformance.place import Opens, Place, odd_delivery, told_by

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
# Words of SQL, names that statements of ours use, and those that every table of Postgres has.
SYSTEM = ("ctid", "xmin", "tableoid")
KEPT = (
    *("select", "from", "order", "group", "table", "user", "index", "default", "null", "true", "end", "all", "value"),
    *("current_date", "constraint", "oid", "rowid", "new", "held", "item", "items", "jobs", "job", "asked", "org_id"),
    *("known", "kept", "gone", "later", "generation", "staged", "rows"),
    *SYSTEM,
)
MIXED: list[Any] = [None, 1, "x", True, [1, {"a": None}], {"b": "c"}, "", False]


class OddItems:
    """What the writer relies on, whatever the warehouse."""

    async def test_items_of_any_shape_become_rows(self, place: Place, opens: Opens) -> None:
        """Names that are long or differ by case only, what no column holds, no items at all, and what is no object."""
        rows = [row_of(odd_delivery(name), json.dumps({"normalized": value}).encode()) for name, value in GIVEN.items()]
        results = await told_by(Table(KINDS["customer_postgres"], opens()), rows)
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

    async def test_fields_may_have_names_that_databases_or_statements_keep_for_themselves(
        self, place: Place, opens: Opens
    ) -> None:
        """What has no column is in the whole item; what comes beside it has its own."""
        item = {name: f"of {name}" for name in KEPT}
        given = {"kept": {"items": [item]}, "plain": {"items": [{"title": "Lamp"}]}}
        rows = [row_of(odd_delivery(name), json.dumps({"normalized": value}).encode()) for name, value in given.items()]
        for _ in range(2):
            results = await told_by(Table(KINDS["customer_postgres"], opens()), rows)
            assert [(each.error_type, each.rows) for each in results] == [("", 1), ("", 1)]
        found = {row["_job_id"]: row for row in await place.rows()}
        assert (found["kept"]["_data"], found["plain"]["title"]) == (item, "Lamp")
        without = [name for name in KEPT if found["kept"].get(name) is None]
        assert set(without) <= set(SYSTEM)
        assert {found["kept"][name] for name in KEPT if name not in without} == {
            item[name] for name in KEPT if name not in without
        }

    async def test_a_field_of_many_types_has_a_column_of_the_first_and_no_job_is_refused(
        self, place: Place, opens: Opens
    ) -> None:
        """In one job, in another one of the block, and in a later block."""
        table = Table(KINDS["customer_postgres"], opens())
        blocks = [{"a": MIXED[:3], "b": MIXED[3:]}, {"c": MIXED[::-1]}]
        for each in blocks:
            rows = [
                row_of(odd_delivery(name), json.dumps({"normalized": {"items": [{"v": v} for v in values]}}).encode())
                for name, values in each.items()
            ]
            assert [result.error_type for result in await told_by(table, rows)] == [""] * len(rows)
        found = {(row["_job_id"], row["_item"]): row for row in await place.rows()}
        given = {(name, at): v for each in blocks for name, values in each.items() for at, v in enumerate(values)}
        assert {at: row["_data"] for at, row in found.items()} == {at: {"v": v} for at, v in given.items()}
        assert {at: row["v"] for at, row in found.items()} == {at: v if v == 1 and v is not True else None for at, v in
                                                               given.items()}  # fmt: skip


def _read(value: Any) -> Any:
    """Return JSON of a column that the binding does not know, as its text where it is kept as one."""
    return json.loads(value) if isinstance(value, str) else value
