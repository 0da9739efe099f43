"""The report: which stretch of time is asked about, how a person reads an answer, and what is drawn of it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest
import typer
from PIL import Image

from projections.clickhouse.asking import Answer, Asked
from projections.clickhouse.queries import Unit, query_of
from services.cli.report import as_plain, stretch
from services.cli.report_pictures import draw, series_of, shorten
from services.cli.report_tables import cell, table_of

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ASKED = Asked(NOW - timedelta(days=1), NOW, "acme")


def answer(drawn: str, columns: str, rows: list[tuple[object, ...]], units: str = "n=jobs") -> Answer:
    head = f"-- title: T\n-- answers: What?\n-- units: {units}\n-- drawn: {drawn}\n"
    return Answer(query_of("q", f"{head}SELECT 1"), tuple(columns.split()), rows)


def test_a_stretch_of_time_is_named_by_its_ends_or_its_length() -> None:
    assert stretch("", "", "", NOW) == (NOW - timedelta(days=7), NOW)
    assert stretch("", "", "90m", NOW) == (NOW - timedelta(minutes=90), NOW)
    first = datetime(2026, 11, 1, tzinfo=UTC)
    assert stretch("2026-11-01", "2026-11-01T08:00", "", NOW) == (first, first + timedelta(hours=8))
    assert stretch("", "2026-11-02", "1d", NOW) == (first, first + timedelta(days=1))
    assert stretch("2026-11-01T02:00+02:00", "2026-11-02", "", NOW) == (first, first + timedelta(days=1))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("2026-11-01", "", "1d"), "not both"),
        (("", "", "a while"), "--last takes a number and m, h, d or w"),
        (("yesterday", "", ""), "--since takes a time as"),
        (("", "2026-13-01", ""), "--until takes a time as"),
        (("2026-11-02", "2026-11-01", ""), "has to be before --until"),
    ],
)
def test_a_stretch_that_makes_no_sense_is_refused(
    given: tuple[str, str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit):
        stretch(*given, NOW)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "s", "-"),
        ("", None, "-"),
        (0.25, "s", "250 ms"),
        (3 * 3600.0, "s", "3 h 00 min"),
        (1200, "ms", "1.20 s"),
        (0.987, "share", "98.7%"),
        (12345, "jobs", "12,345"),
        (0.5, "times", "0.50"),
        (NOW, "time", "2026-11-30 12:00:00"),
        ("acme", None, "acme"),
    ],
)
def test_a_value_is_shown_as_a_person_reads_it(value: object, unit: Unit | None, text: str) -> None:
    assert cell(value, unit) == text


@pytest.mark.parametrize("unit", get_args(Unit))
def test_every_unit_can_be_shown(unit: Unit) -> None:
    assert cell(NOW if unit == "time" else 2.0, unit)


def test_a_long_table_says_how_much_it_leaves_out() -> None:
    table = table_of(answer("table", "name n", [(f"n{number}", number) for number in range(100)]))
    assert table.row_count == 41
    assert list(table.columns[0].cells)[-1] == "and 60 more (--json prints all)"


def test_as_json_each_row_names_its_columns() -> None:
    told = as_plain([answer("table", "name n", [("a", 1)])], ASKED, [])
    assert told["answers"] == {"q": [{"name": "a", "n": 1}]}
    assert (told["org"], told["since"], told["until"]) == ("acme", ASKED.since, ASKED.until)


def test_lines_are_told_apart_by_a_column_or_by_what_they_show() -> None:
    rows: list[tuple[object, ...]] = [(NOW, "zyte", 1, 5), (NOW, "direct", 2, 6)]
    by = answer("lines at by provider: n", "at provider n m", rows)
    assert by.query.drawing
    assert series_of(by, by.query.drawing) == {"zyte": [(NOW, 1.0)], "direct": [(NOW, 2.0)]}
    two = answer("lines at: n m", "at provider n m", rows[:1])
    assert two.query.drawing
    assert series_of(two, two.query.drawing) == {"n": [(NOW, 1.0)], "m": [(NOW, 5.0)]}


@pytest.mark.parametrize(("units", "height"), [("n=jobs", 5.0), ("n=s", 3.0)])
def test_bars_of_one_name_are_one_bar_counts_summed_and_times_not(units: str, height: float) -> None:
    twice = answer("bars name: n", "name n", [("timeout", 3), ("timeout", 2), (None, None)], units)
    assert twice.query.drawing
    assert series_of(twice, twice.query.drawing) == {"n": [("timeout", height)]}


@pytest.mark.parametrize(
    ("drawn", "columns", "rows"),
    [
        ("lines at by name: n", "at name n", [(NOW, f"line {number}", number) for number in range(20)]),
        ("bars name: n m", "name n m", [(f"a name that is rather long {number}", 3, 4) for number in range(30)]),
    ],
)
def test_a_picture_is_written_with_something_on_it(
    drawn: str, columns: str, rows: list[tuple[object, ...]], tmp_path: Path
) -> None:
    file = draw(tmp_path / "new", answer(drawn, columns, rows), ASKED)
    assert file == tmp_path / "new" / "q.png"
    with Image.open(file) as picture:
        assert len(picture.convert("RGB").getcolors(1 << 24) or ()) > 10


@pytest.mark.parametrize(
    ("drawn", "units", "rows"),
    [
        ("lines at: n", "n=s", [(NOW, 82.0), (NOW + timedelta(hours=1), 1480.0)]),
        ("bars at: n", "n=jobs", [("a name " * 20, 3), ("providers_exhausted", 1)]),
    ],
)
def test_no_label_of_an_axis_is_cut_at_the_edge(
    drawn: str, units: str, rows: list[tuple[object, ...]], tmp_path: Path
) -> None:
    file = draw(tmp_path, answer(drawn, "at n", rows, units), ASKED)
    assert file
    with Image.open(file) as picture:
        for edge in ((0, 0, 8, picture.height), (picture.width - 8, 0, picture.width, picture.height)):
            assert picture.convert("RGB").crop(edge).getcolors() == [(8 * picture.height, (255, 255, 255))]


def test_a_long_name_keeps_its_ends() -> None:
    assert [shorten("abcdefghij", 7), shorten("abcdefg", 7)] == ["abc…hij", "abcdefg"]


def test_a_table_and_an_empty_answer_are_not_drawn(tmp_path: Path) -> None:
    assert draw(tmp_path, answer("table", "n", [(1,)]), ASKED) is None
    assert draw(tmp_path, answer("bars name: n", "", []), ASKED) is None
    assert list(tmp_path.iterdir()) == []
