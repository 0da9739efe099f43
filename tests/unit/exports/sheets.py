"""Reads a workbook back, as a spreadsheet does: only what we write."""

import re
from pathlib import Path
from zipfile import ZipFile

from lxml import etree

NAMESPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")


def rows_of(path: Path) -> list[dict[str, str | float | bool]]:
    """Return the rows of the first sheet by the letters of their columns; formulas are refused."""
    with ZipFile(path) as book:
        tree = etree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    assert tree.find(f".//{NAMESPACE}f") is None
    return [
        {str(cell.get("r")).rstrip("0123456789"): _value(cell) for cell in row.iter(f"{NAMESPACE}c")}
        for row in tree.iter(f"{NAMESPACE}row")
    ]


def _value(cell: etree._Element) -> str | float | bool:
    kind = cell.get("t")
    if kind == "inlineStr":
        text = "".join(each.text or "" for each in cell.iter(f"{NAMESPACE}t"))
        return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    number = str(cell.findtext(f"{NAMESPACE}v"))
    return number == "1" if kind == "b" else float(number)
