"""CSV and JSON of results, a chunk at a time."""

from collections.abc import Callable, Iterable, Sequence

from api.exports.cells import Cell, cells_of, harmless
from api.exports.table import Columns

BOM = b"\xef\xbb\xbf"
END = "\r\n"  # of a line, as RFC 4180 has it
Rows = Sequence[bytes]
Encode = Callable[[Rows], bytes]


def csv_header(columns: Columns, *, bom: bool) -> bytes:
    """Return the first line, behind a byte-order mark where one is asked for."""
    line = _line(Cell(harmless(name), is_text=True) for name in columns.header)
    return (BOM if bom else b"") + line.encode()


def csv_of(columns: Columns) -> Encode:
    """Return what makes lines of results: texts in quotes, whatever is no text without, nothing for null."""
    names, others = columns

    def encode(rows: Rows) -> bytes:
        return "".join(_line(cells_of(row, names, others)) for row in rows).encode()

    return encode


def json_of() -> Encode:
    """Return what makes members of one array of results, as they are stored, the one behind the other."""
    before = b"\n"

    def encode(rows: Rows) -> bytes:
        nonlocal before
        said = b"".join((before, b",\n".join(rows))) if rows else b""
        before = b",\n" if rows else before
        return said

    return encode


def _line(cells: Iterable[Cell]) -> str:
    return ",".join([_quoted(cell.said) if cell.is_text or _splits(cell.said) else cell.said for cell in cells]) + END


def _splits(said: str) -> bool:
    """Whether a JSON value would end its cell: an object or a list with something in it."""
    return said[:1] in ("{", "[")


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
