"""The JSON-LD of a page: its things in one flat list, and a path into them."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

SEGMENT = re.compile(r"(@?[A-Za-z_][\w:\-]*)((?:\[\d+\])*)")
OPENINGS = ("<!--", "//<![CDATA[", "// <![CDATA[", "/*<![CDATA[*/", "/* <![CDATA[ */", "<![CDATA[")
CLOSINGS = (";", "-->", "//]]>", "// ]]>", "/*]]>*/", "/* ]]> */", "]]>")
MAX_DEPTH = 30
MAX_SCRIPT_CHARS = 8 << 20  # of all scripts together
MAX_THINGS = 50_000


class TooMuch(Exception):
    """The JSON-LD of a page is larger than it is read."""


@dataclass(frozen=True, slots=True)
class Graph:
    """The things that paths lead into; one that is named by its @id only is followed, one step at a time."""

    things: list[dict[str, Any]]
    by_id: dict[str, dict[str, Any]] = field(default_factory=dict)

    def inside(self, thing: dict[str, Any]) -> "Graph":
        """Return the graph as seen from one of its things."""
        return Graph([thing], self.by_id)

    def resolved(self, value: Any) -> Any:
        """Return what a mere reference stands for, and everything else as it is."""
        if isinstance(value, dict) and len(value) == 1 and isinstance(value.get("@id"), str):
            return self.by_id.get(value["@id"], value)
        return value


def graph_of(things: list[dict[str, Any]]) -> Graph:
    """Return things with what their references lead to."""
    by_id: dict[str, dict[str, Any]] = {}
    for thing in things:
        name = thing.get("@id")
        if isinstance(name, str) and len(thing) > 1:
            by_id.setdefault(name, thing)
    return Graph(things, by_id)


def things_of(scripts: list[str]) -> tuple[list[dict[str, Any]], int]:
    """Return every thing of the scripts, those of arrays and @graph too, and how many scripts were broken."""
    if sum(map(len, scripts)) > MAX_SCRIPT_CHARS:
        raise TooMuch(f"JSON-LD of more than {MAX_SCRIPT_CHARS} characters is not read")
    things: list[dict[str, Any]] = []
    broken = 0
    for script in scripts:
        try:
            things.extend(islice(_flat(json.loads(_bare(script), strict=False)), MAX_THINGS - len(things)))
        except (ValueError, RecursionError):
            broken += 1
    return things, broken


def _bare(script: str) -> str:
    """Return a script without the comments that hide it from very old browsers."""
    text = script.strip()
    for opening in OPENINGS:
        text = text.removeprefix(opening).lstrip()
    for closing in CLOSINGS:
        text = text.removesuffix(closing).rstrip()
    return text


def _flat(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for one in value:
            yield from _flat(one)
    elif isinstance(value, dict):
        yield value
        yield from _flat(value.get("@graph", []))


def path_fault(query: str) -> str | None:
    """Say what is wrong with a path such as `Product.offers.price` or `Product.image[0]`, or None."""
    for segment in query.split("."):
        if not SEGMENT.fullmatch(segment):
            return f"{segment!r} is not a segment of a JSON-LD path: write one like Product.offers.price or image[0]"
    return None


def found_at(query: str, graph: Graph) -> Any | None:
    """Return the first value at a path; a first segment in capitals chooses things by their @type, at any depth."""
    first, _, rest = query.partition(".")
    chosen: Iterable[dict[str, Any]] = graph.things
    if first[:1].isupper():
        chosen = (inner for outer in graph.things for inner in _of_type(outer, first, 0))
    else:
        rest = query
    for thing in chosen:
        value = _walk(thing, rest, graph) if rest else thing
        if value not in (None, "", [], {}):
            return value
    return None


def all_at(query: str, graph: Graph) -> list[dict[str, Any]]:
    """Return every thing at a path, for lists of items: all of a type, or the members of the list there."""
    first, _, rest = query.partition(".")
    if first[:1].isupper() and not rest:
        return [inner for outer in graph.things for inner in _of_type(outer, first, 0)]
    value = found_at(query, graph)
    members = value if isinstance(value, list) else [value]
    return [member for member in map(graph.resolved, members) if isinstance(member, dict)]


def _of_type(value: Any, name: str, depth: int) -> Iterator[dict[str, Any]]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, list):
        for one in value:
            yield from _of_type(one, name, depth + 1)
    if isinstance(value, dict):
        declared = value.get("@type", [])
        types = declared if isinstance(declared, list) else [declared]
        if any(isinstance(one, str) and one.rpartition("/")[2] == name for one in types):
            yield value
        for key, one in value.items():
            if key != "@graph" and isinstance(one, dict | list):
                yield from _of_type(one, name, depth + 1)


def _walk(value: Any, path: str, graph: Graph) -> Any | None:
    for segment in path.split("."):
        match = SEGMENT.fullmatch(segment)
        if not match:
            return None
        value = _step(value, match.group(1), graph)
        for index in re.findall(r"\d+", match.group(2)):
            place = int(index)
            value = graph.resolved(value[place]) if isinstance(value, list) and place < len(value) else None
    return value


def _step(value: Any, name: str, graph: Graph) -> Any | None:
    """Take one step; from a list, into each of its members that has it."""
    if isinstance(value, dict):
        return graph.resolved(value.get(name))
    if isinstance(value, list):
        members = map(graph.resolved, value)
        inner = [graph.resolved(one[name]) for one in members if isinstance(one, dict) and name in one]
        return inner[0] if len(inner) == 1 else inner or None
    return None
