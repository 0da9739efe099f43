"""Items become rows: names of columns, types, what fits, and the whole item beside them."""

import pytest

from services.writers.rows import Unreadable
from services.writers.warehouses.cells import cell, new_columns
from services.writers.warehouses.items import column_name, items_of
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
    assert [item.text for item in items_of('{"items": [{"a": 1}, {"a": 2}]}')] == ['{"a": 1}', '{"a": 2}']
    for one in ('{"items": [1]}', '{"items": [{"a": 1}], "b": 2}', '{"items": 3}', "{}"):
        assert [item.text for item in items_of(one)] == [one]
    assert items_of('{"items": []}') == []
    with pytest.raises(Unreadable):
        items_of("[1]")


def test_of_two_fields_with_one_name_the_first_has_the_column() -> None:
    [item] = items_of('{"Price": 1, "price": 2}')
    assert item.fields == {"price": b"1"}
    assert item.text == '{"Price": 1, "price": 2}'


def test_types_are_those_of_the_first_values_and_null_says_nothing() -> None:
    items = items_of(
        '{"items": [{"a": null, "b": 1, "c": {}, "d": 1}, {"a": "x", "b": 1.5, "c": 1, "d": "1", "e": true}]}'
    )
    assert new_columns(items, {"e": 1}, 10) == [
        Column("b", ColumnType.NUMBER),
        Column("c", ColumnType.JSON),
        Column("d", ColumnType.INTEGER),
        Column("a", ColumnType.TEXT),
    ]
    assert [column.name for column in new_columns(items, {}, 2)] == ["b", "c"]


@pytest.mark.parametrize(
    ("value", "kind", "held"),
    [
        (b"1.5", ColumnType.INTEGER, None),
        (b"2.0", ColumnType.INTEGER, 2),
        (b"9223372036854775807", ColumnType.INTEGER, 2**63 - 1),
        (b"9223372036854775808", ColumnType.INTEGER, None),
        (b"9223372036854775807", ColumnType.NUMBER, None),  # no double is this number
        (b"7", ColumnType.NUMBER, 7.0),
        (b"1e400", ColumnType.NUMBER, None),
        (b"true", ColumnType.INTEGER, None),
        (b"true", ColumnType.BOOLEAN, True),
        (b'"x"', ColumnType.TEXT, "x"),
        (b"7", ColumnType.TEXT, None),
        (b'"7"', ColumnType.NUMBER, None),
        (b"[1]", ColumnType.TEXT, None),
        (b"7", ColumnType.JSON, "7"),
        (b"null", ColumnType.JSON, None),
        (None, ColumnType.TEXT, None),
    ],
)
def test_what_does_not_fit_a_column_is_null(value: bytes | None, kind: ColumnType, held: object) -> None:
    found = cell(value, kind)
    assert (found, type(found)) == (held, type(held))
