"""Items become rows: names of columns, types, what fits, and the whole item beside them."""

import pytest

from services.writers.rows import Unreadable
from services.writers.warehouses.cells import cells, new_columns
from services.writers.warehouses.items import items_of
from services.writers.warehouses.names import column_name, names_of
from services.writers.warehouses.warehouse import Column, ColumnType


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("title", "title"),
        ("Unit Price", "unit_price"),
        ("größe", "grosse"),
        ("2nd", "_2nd"),
        ("_data", "data"),
        ("a.b--c", "a_b_c"),
        ("家", ""),
        ("", ""),
        ("x" * 80, "x" * 63),
    ],
)
def test_names_of_columns(field: str, name: str) -> None:
    assert column_name(field) == name


def test_items_stand_alone_under_items_or_the_object_is_one() -> None:
    assert items_of('{"items": [{"a": 1}, {"a": 2}]}').texts == ['{"a": 1}', '{"a": 2}']
    for one in ('{"items": [1]}', '{"items": [{"a": 1}], "b": 2}', '{"items": 3}', "{}"):
        assert items_of(one).texts == [one]
    assert len(items_of('{"items": []}')) == 0
    with pytest.raises(Unreadable):
        items_of("[1]")


def test_of_two_fields_with_one_name_the_first_has_the_column() -> None:
    items = items_of('{"Price": 1, "price": 2}')
    assert (list(items.values("price")), items.columns, items.json("price")) == ([1], ("price",), ["1"])
    assert items.texts == ['{"Price": 1, "price": 2}']


def test_types_are_those_of_the_first_values_and_null_says_nothing() -> None:
    items = items_of(
        '{"items": [{"a": null, "b": 1, "c": {}, "d": 1}, {"a": "x", "b": 1.5, "c": 1, "d": "1", "e": true}]}'
    )
    assert new_columns([items], {"e": 1}, 10) == [
        Column("a", ColumnType.TEXT),
        Column("b", ColumnType.NUMBER),
        Column("c", ColumnType.JSON),
        Column("d", ColumnType.INTEGER),
    ]
    assert [column.name for column in new_columns([items], {}, 2)] == ["a", "b"]


def test_items_with_other_fields_than_the_one_before_have_columns_of_their_own() -> None:
    items = items_of('{"items": [{"a": 1, "B": 2}, {"a": 3, "B": 4}, {"B": 5}, {}, {"a": 6, "B": 7}]}')
    assert items.columns == ("a", "b")
    assert [list(items.values(name)) for name in ("a", "b", "c")] == [
        [1, 3, None, None, 6],
        [2, 4, 5, None, 7],
        [None] * 5,
    ]


def test_names_of_very_long_fields_are_not_remembered() -> None:
    fields = ("x" * 20_000, "y")
    assert names_of(fields).columns == ("x" * 63, "y")
    assert names_of(fields) is not names_of(fields)
    assert names_of(("a",)) is names_of(("a",))


def test_lists_and_objects_are_kept_as_they_are_written() -> None:
    items = items_of('{"A": {"b" : [1.10, 1e400]}, "c": null, "d": 1.10}')
    assert [cells(items, Column(name, ColumnType.JSON)) for name in ("a", "c", "d", "e")] == [
        ['{"b" : [1.10, 1e400]}'],
        [None],
        ["1.10"],
        [None],
    ]


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 5000, "1" + "0" * 400])
def test_a_number_that_none_can_hold_costs_no_other_field_its_column(number: str) -> None:
    items = items_of(f'{{"items": [{{"a": {number}, "b": "x", "c": [{number}]}}]}}')
    assert new_columns([items], {}, 10) == [Column("b", ColumnType.TEXT), Column("c", ColumnType.JSON)]
    assert list(cells(items, Column("a", ColumnType.NUMBER))) == [None]
    assert list(cells(items, Column("b", ColumnType.TEXT))) == ["x"]
    assert list(cells(items, Column("c", ColumnType.JSON))) == [f"[{number}]"]
    assert number in items.texts[0]


@pytest.mark.parametrize(
    ("value", "kind", "held"),
    [
        ("1.5", ColumnType.INTEGER, None),
        ("2.0", ColumnType.INTEGER, 2),
        ("9223372036854775807", ColumnType.INTEGER, 2**63 - 1),
        ("9223372036854775808", ColumnType.INTEGER, None),
        ("9223372036854775807", ColumnType.NUMBER, None),  # no double is this number
        ("7", ColumnType.NUMBER, 7.0),
        ("1e400", ColumnType.NUMBER, None),
        ("true", ColumnType.INTEGER, None),
        ("true", ColumnType.NUMBER, None),
        ("true", ColumnType.BOOLEAN, True),
        ("1", ColumnType.BOOLEAN, None),
        ('"x"', ColumnType.TEXT, "x"),
        ("7", ColumnType.TEXT, None),
        ('"7"', ColumnType.NUMBER, None),
        ('"7"', ColumnType.INTEGER, None),
        ("[1]", ColumnType.TEXT, None),
        ("7", ColumnType.JSON, "7"),
        ('"x"', ColumnType.JSON, '"x"'),
        ("null", ColumnType.JSON, None),
        ("7", ColumnType.TIMESTAMP, None),
    ],
)
def test_what_does_not_fit_a_column_is_null(value: str, kind: ColumnType, held: object) -> None:
    [found, absent] = cells(items_of(f'{{"items": [{{"a": {value}}}, {{}}]}}'), Column("a", kind))
    assert (found, type(found), absent) == (held, type(held), None)
