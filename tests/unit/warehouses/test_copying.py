"""Rows in the text format of COPY, as Postgres documents it."""

import pytest

from services.writers.warehouses.customer_postgres.copying import copied
from services.writers.warehouses.warehouse import Column, ColumnType, Value

TEXT, JSON = Column("t", ColumnType.TEXT), Column("j", ColumnType.JSON)
INTEGER, NUMBER = Column("i", ColumnType.INTEGER), Column("n", ColumnType.NUMBER)
BOOLEAN, TIME = Column("b", ColumnType.BOOLEAN), Column("s", ColumnType.TIMESTAMP)


def test_a_line_for_each_row_and_a_tab_between_values() -> None:
    rows: list[list[Value]] = [["x", 7, 0.1, True, 1_000_001, '{"a": "\\n"}'], ["", -1, 1e300, False, 0, "1"]]
    assert copied([TEXT, INTEGER, NUMBER, BOOLEAN, TIME, JSON], rows).decode().splitlines() == [
        'x\t7\t0.1\tt\t1970-01-01 00:00:01.000001+00:00\t{"a": "\\\\n"}',
        "\t-1\t1e+300\tf\t1970-01-01 00:00:00+00:00\t1",
    ]


@pytest.mark.parametrize(
    ("values", "written"),
    [
        (["a\tb", "a\nb", "a\rb", "\\N", "\\."], ["a\\tb", "a\\nb", "a\\rb", "\\\\N", "\\\\."]),
        ([None, "x", None], ["\\N", "x", "\\N"]),
        ([None, None], ["\\N", "\\N"]),
        (["\\", "\\"], ["\\\\", "\\\\"]),
        ([1, "1\t", 1.5, True, None], ["1", "1\\t", "1.5", "t", "\\N"]),
        ([True, 1, 1.0], ["t", "1", "1.0"]),
        ([0, False, 0.0, -0.0], ["0", "f", "0.0", "-0.0"]),
        (["\u2028", "\x85", "家", "\x1f"], ["\u2028", "\x85", "家", "\x1f"]),
    ],
)
def test_values_are_written_as_what_they_are(values: list[Value], written: list[str]) -> None:
    assert copied([TEXT], [[value] for value in values]).decode().split("\n") == [*written, ""]


@pytest.mark.parametrize(("text", "said"), [("a secret\0", "t has a NUL"), ("a secret\ud800", "t has half of a")])
def test_what_postgres_has_in_no_text_names_the_column_and_quotes_nothing(text: str, said: str) -> None:
    for values in ([text], [text, text], ["x", None, text]):
        with pytest.raises(ValueError, match=said) as refused:
            copied([TEXT], [[value] for value in values])
        assert "secret" not in str(refused.value)


def test_a_time_outside_of_the_calendar_names_its_column() -> None:
    with pytest.raises(ValueError, match="s is a time outside"):
        copied([TIME], [[1 << 62]])
