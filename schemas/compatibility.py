"""Whether a new Avro schema can live beside earlier ones, by Apache Avro's own rules."""

import json
from collections.abc import Iterable
from typing import Literal, get_args

from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.errors import AvroException
from avro.schema import parse

Level = Literal[
    "NONE",
    "BACKWARD",
    "BACKWARD_TRANSITIVE",
    "FORWARD",
    "FORWARD_TRANSITIVE",
    "FULL",
    "FULL_TRANSITIVE",
]
LEVELS: tuple[Level, ...] = get_args(Level)
DEFAULT_LEVEL: Level = "FULL_TRANSITIVE"


class InvalidSchema(Exception):
    """The text is no Avro schema; says why."""


def normal_form(text: str) -> str:
    """Check that the text is an Avro schema and return it without insignificant white space or key order."""
    try:
        parse(text)
        return json.dumps(json.loads(text), separators=(",", ":"), sort_keys=True)
    except (AvroException, ValueError, TypeError, KeyError) as fault:
        raise InvalidSchema(f"Invalid Avro schema: {fault}") from None


def incompatibilities(level: Level, text: str, earlier: Iterable[str]) -> list[str]:
    """Say what stands against the schema at this level; `earlier` in the order of registration."""
    if level == "NONE":
        return []
    schemas = list(earlier)
    if not level.endswith("_TRANSITIVE"):
        schemas = schemas[-1:]
    found = []
    for old in schemas:
        if level.startswith(("BACKWARD", "FULL")):
            found += _unreadable("new reader, old writer", reader=text, writer=old)
        if level.startswith(("FORWARD", "FULL")):
            found += _unreadable("old reader, new writer", reader=old, writer=text)
    return found


def _unreadable(pair: str, reader: str, writer: str) -> list[str]:
    checker = ReaderWriterCompatibilityChecker()  # type: ignore[no-untyped-call]
    result = checker.get_compatibility(parse(reader), parse(writer))
    if result.compatibility is SchemaCompatibilityType.compatible:
        return []
    places = ", ".join(sorted(result.locations))
    reasons = sorted(result.messages) or ["incompatible"]
    return [f"{pair}: {reason} (at {places})" for reason in reasons]
