"""What stands in a cell of an exported table, of a member of a result as it is stored. Pure.

A spreadsheet runs a text that begins as a formula does. Such a text gets an apostrophe before it, and so does one that
begins with apostrophes before such a text: who takes one apostrophe off whatever ESCAPED matches has the text back.
Only texts are touched: a negative number is a number.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

STARTS = "=+-@\t\r"  # of what a spreadsheet may take for a formula
ESCAPED = re.compile(rf"'+[{re.escape(STARTS)}]")
_HARMFUL = re.compile(rf"'*[{re.escape(STARTS)}]")
_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_text = msgspec.json.Decoder(str).decode
_QUOTE, _NULL = b'"', b"null"


class Cell(NamedTuple):
    """What a cell says, and whether it is a text; one that is none is a JSON value. Empty and no text: nothing."""

    said: str
    is_text: bool


NOTHING = Cell("", is_text=False)


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return "'" + text if _HARMFUL.match(text) else text


def cells_of(row: bytes, columns: Sequence[str], others: str) -> list[Cell]:
    """Return the cells of a result in the order of these columns; what is in none of them is an object in `others`."""
    members = _members(row)
    cells = [_cell(bytes(members.pop(name))) if name in members else NOTHING for name in columns]
    if others:
        cells.append(Cell(msgspec.json.encode(members).decode(), is_text=False) if members else NOTHING)
    return cells


def _cell(value: bytes) -> Cell:
    if value[:1] == _QUOTE:
        return Cell(harmless(_text(value)), is_text=True)
    return NOTHING if value == _NULL else Cell(value.decode(), is_text=False)
