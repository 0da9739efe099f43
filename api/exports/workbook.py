"""XLSX of results: a workbook of one sheet, written row by row into a directory of its own.

TooMuch  a sheet cannot hold this; said before anything is sent
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from api.exports.cells import Cell, cells_of, harmless
from api.exports.table import Columns

MAX_ROWS = 1_048_575  # of a sheet, beside the header
MAX_TEXT = 32_767  # UTF-16 units of a cell
MAX_DIGITS = 15  # of a whole number that a sheet keeps as it is; a longer one is written as text
BEYOND = ord("\uffff")  # characters behind it are two units


class TooMuch(Exception):
    """A sheet cannot hold this."""


class Sheet:
    """Takes chunks of results behind its header; `close`, always, leaves the file at `path`. Everything blocks."""

    def __init__(self, directory: Path, columns: Columns, made_at: datetime) -> None:
        self.path = directory / "results.xlsx"
        # Neither texts nor their beginnings are looked at: nothing becomes a formula, a link or a number.
        self._book = Workbook(str(self.path), {"constant_memory": True, "tmpdir": str(directory)})
        self._book.set_properties({"created": made_at.replace(tzinfo=None)})
        self._sheet = self._book.add_worksheet("results", worksheet_class=_Plain)
        self._columns = columns
        self._next = 0

    def begin(self) -> None:
        """Write the header. Raises TooMuch."""
        self._add([Cell(harmless(name), is_text=True) for name in self._columns.header])

    def add(self, rows: Sequence[bytes]) -> None:
        """Write results. Raises TooMuch."""
        for row in rows:
            self._add(cells_of(row, *self._columns))

    def close(self) -> None:
        """Finish the file."""
        self._book.close()

    def _add(self, cells: Sequence[Cell]) -> None:
        if self._next > MAX_ROWS:
            raise TooMuch(f"a sheet takes {MAX_ROWS} results: ask for format=csv")
        for column, (said, is_text) in enumerate(cells):
            if not said:
                continue
            value = said if is_text else _value(said)
            if isinstance(value, bool):
                self._sheet.write_boolean(self._next, column, value)
            elif isinstance(value, int | float):
                self._sheet.write_number(self._next, column, value)
            else:
                self._refuse_long(value, column)
                self._sheet.write_string(self._next, column, value)
        self._next += 1

    def _refuse_long(self, text: str, column: int) -> None:
        if len(text) > MAX_TEXT // 2 and len(text) + sum(ord(each) > BEYOND for each in text) > MAX_TEXT:
            where = f"row {self._next + 1}, column {column + 1}"
            raise TooMuch(f"a cell takes {MAX_TEXT} characters, and {where} has more: ask for format=csv")


class _Plain(Worksheet):  # type: ignore[misc]  # its package has no types
    """Writes what it is given, pinned to xlsxwriter 3: no text is markup, and numbers keep all their digits."""

    def _xml_rich_inline_string(self, string: str, attributes: Sequence[tuple[str, Any]] = ()) -> None:
        self._xml_inline_string(string, True, attributes)  # it only looks like markup

    def _xml_number_element(self, number: float, attributes: Sequence[tuple[str, Any]] = ()) -> None:
        place = dict(attributes)["r"]
        self.fh.write(f'<c r="{place}"><v>{number!r}</v></c>')


def _value(said: str) -> bool | float | str:
    """Return what a JSON value is in a sheet."""
    if said in ("true", "false"):
        return said == "true"
    if said[:1] in ("{", "["):
        return said
    if said.lstrip("-").isdigit():
        return int(said) if len(said.lstrip("-")) <= MAX_DIGITS else said
    return float(said)
