"""Files of results: every value comes back as it was, no text runs, and no file is held in memory."""

import csv
import io
import json
import tracemalloc
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.exports import workbook
from api.exports.cells import ESCAPED, harmless
from api.exports.chunks import chunks_of
from api.exports.table import Columns, columns_of
from api.exports.workbook import MAX_TEXT, Sheet, TooMuch
from api.exports.written import BOM, csv_header, csv_of, json_of
from projections.postgres.item_reading import HasItems, Piece
from projections.postgres.rows import JobState
from services.ledger.items import Items
from services.runtime.errors import BlobMissing
from services.runtime.item_chunks import packed_lines
from services.workers.modules.stats import MOST_COLUMNS, Stats
from tests.unit.exports.sheets import rows_of

Rows = Sequence[Mapping[str, Any]]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
HARMFUL = ["=1+1", "+x", "-5", "@a", "\t=1", "\r=1"]


def stored(rows: Rows) -> tuple[Columns, list[bytes]]:
    """What a job keeps of results."""
    stats = Stats()
    for row in rows:
        stats.saw(row)
    return columns_of(stats), [msgspec.json.encode(row) for row in rows]


def in_csv(rows: Rows, *, bom: bool = False) -> bytes:
    columns, lines = stored(rows)
    return csv_header(columns, bom=bom) + csv_of(columns)(lines)


def in_json(rows: Rows) -> Any:
    encode = json_of()
    return json.loads(b"[" + encode(stored(rows)[1]) + b"]")


def in_xlsx(rows: Rows, directory: Path) -> list[dict[str, str | float | bool]]:
    columns, lines = stored(rows)
    sheet = Sheet(directory, columns, NOW)
    sheet.begin()
    sheet.add(lines)
    sheet.close()
    return rows_of(sheet.path)


def read(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def taken_off(text: str) -> str:
    return text[1:] if ESCAPED.match(text) else text


def test_88_no_text_is_a_formula_in_a_table_numbers_stay_numbers_and_json_is_untouched(tmp_path: Path) -> None:
    rows = [{"=head": text, "-n": -5, "x": -1.5, "t": True} for text in HARMFUL]
    lines = in_csv(rows).decode().split("\r\n")
    assert lines[0] == '"\'=head","\'-n","x","t"'
    assert lines[1] == '"\'=1+1",-5,-1.5,true'
    assert [row["'=head"] for row in read(in_csv(rows))] == ["'" + text for text in HARMFUL]
    header, *found = in_xlsx(rows, tmp_path)
    assert header == {"A": "'=head", "B": "'-n", "C": "x", "D": "t"}
    assert found == [{"A": "'" + text, "B": -5.0, "C": -1.5, "D": True} for text in HARMFUL]
    assert in_json(rows) == rows


def test_90_a_table_comes_back_as_it_was_with_and_without_a_byte_order_mark(tmp_path: Path) -> None:
    row = {
        "名前": "日本語, 中文 한국어 🎌",
        "code": "007",
        "long": 12345678901234567890,
        "digits": "12345678901234567890",
        "lines": 'one\n"two"\r\nthree,',
        "exact": 0.30000000000000004,
        "nothing": None,
        "empty": "",
        "nested": {"a": [1, "=2"]},
    }
    plain, marked = in_csv([row]), in_csv([row], bom=True)
    assert marked == BOM + plain
    assert not plain.startswith(BOM)
    [back] = read(plain)
    assert list(back) == list(row)
    assert json.loads(back.pop("nested")) == row["nested"]
    expected = {"long": "12345678901234567890", "exact": "0.30000000000000004", "nothing": ""}
    assert back == {name: value for name, value in row.items() if name != "nested"} | expected
    assert in_json([row]) == [row]
    header, found = in_xlsx([row], tmp_path)
    named = {header[place]: value for place, value in found.items()}
    assert json.loads(str(named.pop("nested"))) == row["nested"]
    assert named.pop("long") == "12345678901234567890"  # a number would lose its last digits
    assert named == {name: row[name] for name in ("名前", "code", "digits", "lines", "exact")}


@given(st.text())
def test_whatever_gets_an_apostrophe_has_its_text_back_without_it_and_nothing_else_gets_one(text: str) -> None:
    assert taken_off(harmless(text)) == text
    assert harmless(text)[:1] not in tuple("=+-@\t\r")
    if text.lstrip("'")[:1] not in tuple("=+-@\t\r"):
        assert harmless(text) == text


def test_texts_that_look_like_markup_of_a_sheet_are_texts(tmp_path: Path) -> None:
    texts = ["<r><t>x</t></r>", "<r>&</r>", "_x0041_", "a\x01b", " spaces ", "https://shop.example/", "\ufffe|\uffff"]
    _, *found = in_xlsx([{"a": text} for text in texts], tmp_path)
    assert [row["A"] for row in found] == texts


def test_members_come_in_the_order_in_which_they_were_first_seen_and_the_thousand_and_first_in_one_column() -> None:
    rows: list[dict[str, Any]] = [{"b": 1}, {"a": 2, "b": 3}, {"c": None}]
    assert in_csv(rows) == b'"b","a","c"\r\n1,,\r\n3,2,\r\n,,\r\n'
    wide = [{f"m{number}": number for number in range(MOST_COLUMNS + 2)} | {"_more": 1}]
    [back] = read(in_csv(wide))
    assert len(back) == MOST_COLUMNS + 1
    assert json.loads(back["_more"]) == {
        f"m{MOST_COLUMNS}": MOST_COLUMNS,
        f"m{MOST_COLUMNS + 1}": MOST_COLUMNS + 1,
        "_more": 1,
    }


def test_results_are_one_array_however_they_are_chunked() -> None:
    encode = json_of()
    parts = [encode([]), encode([b"1", b"2"]), encode([]), encode([b"3"])]
    assert json.loads(b"[" + b"".join(parts) + b"\n]\n") == [1, 2, 3]


def test_a_sheet_says_what_it_cannot_hold_and_names_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns, lines = stored([{"a": "x" * MAX_TEXT}, {"a": "🎌" * (MAX_TEXT // 2 + 1)}])
    sheet = Sheet(tmp_path, columns, NOW)
    sheet.begin()
    sheet.add(lines[:1])
    with pytest.raises(TooMuch, match=r"row 3, column 1 .*format=csv"):
        sheet.add(lines[1:])
    monkeypatch.setattr(workbook, "MAX_ROWS", 1)
    with pytest.raises(TooMuch, match="format=csv"):
        sheet.add(lines[:1])
    sheet.close()


class Store:
    """A job of many equal chunks, as the read model and the blob store have it."""

    def __init__(self, chunks: int, lines: Sequence[bytes]) -> None:
        self._rows, self._chunks = len(lines), chunks
        self._part = packed_lines(lines)
        self.asked: list[int] = []  # how many chunks each question was answered with
        progress = msgspec.to_builtins(Items(chain_id="j1", rows=chunks * len(lines)))
        self.job = JobState("acme", "j1", "completed", 1, 1, 1, progress=progress)

    async def of_rows(self, _job: HasItems, offset: int, _count: int, limit: int = 0) -> list[Piece]:
        """Return the chunks from an offset on."""
        numbers = range(offset // self._rows, self._chunks)[:limit]
        self.asked.append(len(numbers))
        size, rows = len(self._part), self._rows
        return [Piece("j1", n, f"c{n}", size, 0, 0, n * rows, (n + 1) * rows, n * rows, rows, 2**62) for n in numbers]

    async def first(self, _key: str, length: int) -> bytes:
        """Return a new copy of a chunk."""
        return bytes(bytearray(self._part[:length]))


@pytest.mark.parametrize("kind", ["csv", "json", "xlsx"])
async def test_ten_times_the_results_take_no_more_memory(kind: str, tmp_path: Path) -> None:
    columns, lines = stored([{"name": f"thing {n}", "price": n / 4, "note": "n" * 50} for n in range(500)])

    async def peak(chunks: int) -> int:
        store = Store(chunks, lines)
        written = 0
        tracemalloc.start()
        try:
            sheet = Sheet(tmp_path, columns, NOW)
            write = {"csv": csv_of(columns), "json": json_of(), "xlsx": sheet.add}[kind]
            async for rows in chunks_of(store, store, store.job):
                write(rows)
                written += len(rows)
            sheet.close()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            assert written == chunks * len(lines)

    few = await peak(3)
    assert await peak(30) < few * 1.2


async def test_chunks_are_asked_for_a_hundred_at_a_time_and_one_that_is_gone_is_told() -> None:
    store = Store(250, [b"1", b"2"])
    assert [rows async for rows in chunks_of(store, store, store.job)] == [[b"1", b"2"]] * 250
    assert store.asked == [100, 100, 50]
    store = Store(2, [b"1"])
    store.job.progress["rows"] = 3
    with pytest.raises(BlobMissing):
        [rows async for rows in chunks_of(store, store, store.job)]
