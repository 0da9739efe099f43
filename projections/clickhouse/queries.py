"""The queries of dashboards, reports and docs/bi.md: a file of `queries/` each, with what it answers above its SQL.

A file begins with comments: `title`, `answers` (a question), `units` (of its columns) and `drawn` (how); more comments
are notes. Parameters stand in the SQL as ClickHouse's `{name:Type}`: `org` (empty: all), `since` (included), `until`
(not), and `bucket` (seconds between two points of a line).
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct

DIRECTORY = Path(__file__).with_name("queries")
PARAMETERS = {
    "org": "String",
    "since": "DateTime64(6, 'UTC')",
    "until": "DateTime64(6, 'UTC')",
    "bucket": "UInt32",
}
Unit = Literal[
    "jobs", "stays", "calls", "claims", "retries", "tries", "deliveries", "credits", "slots", "workers",
    "s", "ms", "days", "share", "times", "time",
]  # fmt: skip  # share: 0 to 1; times: a factor; time: an instant, UTC
UNITS = frozenset(get_args(Unit))
PLACE = re.compile(r"\{(\w+):((?:[^{}()]|\([^()]*\))+)\}")
_HEADER = re.compile(r"-- (?:(title|answers|units|drawn):)? ?(.*)")
_DRAWN = re.compile(r"(lines|bars) (\w+)(?: by (\w+))?: (\w+(?: \w+)*)")


class Drawing(Struct, frozen=True):
    """How the rows of a query are drawn: `ys` over `x`, as lines over time or as bars."""

    kind: Literal["lines", "bars"]
    x: str
    by: str  # the column that tells one line from another; empty: a line for each of `ys`
    ys: tuple[str, ...]


class Query(Struct, frozen=True):
    """One question over many jobs."""

    name: str
    title: str
    answers: str
    units: Mapping[str, Unit]
    drawing: Drawing | None
    notes: str
    sql: str

    @property
    def parameters(self) -> dict[str, str]:
        """Names and types of its parameters."""
        return dict(PLACE.findall(self.sql))


class BadQuery(Exception):
    """A file of `queries/` is not as it has to be."""


def queries() -> dict[str, Query]:
    """Return every query by its name."""
    return {path.stem: query_of(path.stem, path.read_text("utf-8")) for path in sorted(DIRECTORY.glob("*.sql"))}


def query_of(name: str, text: str) -> Query:
    """Read a file, or raise BadQuery saying what is wrong with it."""
    lines = text.splitlines()
    size = next((number for number, line in enumerate(lines) if not line.startswith("--")), len(lines))
    told: dict[str, str] = {}
    notes: list[str] = []
    for line in lines[:size]:
        key, value = (_HEADER.fullmatch(line) or _bad(name, f"what is {line!r}?")).groups()
        if key:
            told[key] = value
        else:
            notes.append(value)
    if missing := [key for key in ("title", "answers", "units", "drawn") if key not in told]:
        _bad(name, f"its head lacks {', '.join(missing)}")
    query = Query(
        name,
        told["title"],
        told["answers"],
        _units(name, told["units"]),
        _drawing(name, told["drawn"]),
        " ".join(notes),
        "\n".join(lines[size:]).strip(),
    )
    for parameter, kind in query.parameters.items():
        if PARAMETERS.get(parameter) != kind:
            _bad(name, f"{{{parameter}:{kind}}} is none of {PARAMETERS}")
    return query


def _units(name: str, text: str) -> dict[str, Unit]:
    units = dict(part.split("=") for part in text.split())
    if unknown := sorted(set(units.values()) - UNITS):
        _bad(name, f"unknown units {', '.join(unknown)}")
    return units  # type: ignore[return-value]  # they are units, as was just seen


def _drawing(name: str, text: str) -> Drawing | None:
    if text in ("table", "none"):
        return None
    kind, x, by, ys = (_DRAWN.fullmatch(text) or _bad(name, f"cannot draw {text!r}")).groups()
    return Drawing("lines" if kind == "lines" else "bars", x, by or "", tuple(ys.split()))


def _bad(name: str, why: str) -> re.Match[str]:
    raise BadQuery(f"projections/clickhouse/queries/{name}.sql: {why}")
