"""The JSON-LD of a page: its things in one flat list, and a path into them."""

import json
import re
from collections.abc import Iterator
from typing import Any

SEGMENT = re.compile(r"(@?[A-Za-z_][\w:\-]*)((?:\[\d+\])*)")
COMMENT = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)|(?:-->|//\s*\]\]>|/\*\s*\]\]>\s*\*/|\]\]>)\s*;?\s*$"
)
MAX_DEPTH = 30


def things_of(scripts: list[str]) -> tuple[list[dict[str, Any]], int]:
    """Return every thing of the scripts, those of arrays and @graph too, and how many scripts were broken."""
    things: list[dict[str, Any]] = []
    broken = 0
    for script in scripts:
        try:
            things.extend(_flat(json.loads(COMMENT.sub("", script), strict=False)))
        except (ValueError, RecursionError):
            broken += 1
    return things, broken


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


def found_at(query: str, things: list[dict[str, Any]]) -> Any | None:
    """Return the first value at a path; a first segment in capitals chooses things by their @type, at any depth."""
    first, _, rest = query.partition(".")
    if first[:1].isupper():
        for thing in (inner for outer in things for inner in _of_type(outer, first, 0)):
            value = _walk(thing, rest) if rest else thing
            if value not in (None, "", [], {}):
                return value
        return None
    for thing in things:
        value = _walk(thing, query)
        if value not in (None, "", [], {}):
            return value
    return None


def all_at(query: str, things: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every thing at a path, for lists of items: all of a type, or the members of the list there."""
    first, _, rest = query.partition(".")
    if first[:1].isupper() and not rest:
        return [inner for outer in things for inner in _of_type(outer, first, 0)]
    value = found_at(query, things)
    members = value if isinstance(value, list) else [value]
    return [member for member in members if isinstance(member, dict)]


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


def _walk(value: Any, path: str) -> Any | None:
    for segment in path.split("."):
        match = SEGMENT.fullmatch(segment)
        if not match:
            return None
        value = _step(value, match.group(1))
        for index in re.findall(r"\d+", match.group(2)):
            place = int(index)
            value = value[place] if isinstance(value, list) and place < len(value) else None
    return value


def _step(value: Any, name: str) -> Any | None:
    """Take one step; from a list, into each of its members that has it."""
    if isinstance(value, dict):
        return value.get(name)
    if isinstance(value, list):
        inner = [one[name] for one in value if isinstance(one, dict) and name in one]
        return inner[0] if len(inner) == 1 else inner or None
    return None
