"""Checks the contract: `python -m schemas.check` exits 1 and names what is wrong.

Generated files are current, every field behind the header has a default, every enum has a default symbol, no released
schema has gone, and each is compatible both ways with what was released of it (FULL_TRANSITIVE, as Apache Avro judges).
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

from schemas.avro_of import record_schema
from schemas.compatibility import incompatibilities
from schemas.events import EVENT_TYPES
from schemas.generate import HERE, generated
from schemas.recorded import Header

RELEASED_DIRECTORY = HERE / "released"
REQUIRED = {*Header.__struct_fields__, "org_id", "job_id"}


def problems() -> Iterator[str]:
    """Yield everything that is wrong, each with what to do."""
    for path, text in generated().items():
        if not path.exists() or path.read_text() != text:
            yield f"{path.name} is not current: run `python -m schemas.generate`"
    for name in EVENT_TYPES:
        yield from shape_problems(record_schema(name))
    for version, name, text in released():
        if name in EVENT_TYPES:
            yield from compatibility_problems(record_schema(name), version, text)
        else:
            yield f"{name} was released ({version}) and is gone: events are kept for ever, bring it back"


def compatibility_problems(schema: dict[str, Any], version: str, released_text: str) -> Iterator[str]:
    """Yield why old code could not read new events of a type, or new code old ones."""
    for reason in incompatibilities("FULL_TRANSITIVE", json.dumps(schema), [released_text]):
        yield (
            f"{schema['name']} is not compatible with the one released in {version}: {reason}: change it back, and "
            "add a field with a default, an enum symbol, or an event type in its place"
        )


def shape_problems(schema: dict[str, Any]) -> Iterator[str]:
    """Yield what would keep a schema from evolving."""
    for field in schema["fields"]:
        place = f"{schema['name']}.{field['name']}"
        if field["name"] not in REQUIRED and "default" not in field:
            yield f"{place} has no default: give it one, so that a later version may retire it"
        for enum in _enums(field["type"]):
            if enum.get("default") not in enum["symbols"]:
                yield f"{place}: enum {enum['name']} has no default symbol: old readers could not read a new one"


def _enums(avro: Any) -> Iterator[dict[str, Any]]:
    match avro:
        case {"type": "enum"}:
            yield avro
        case {"type": "array", "items": items}:
            yield from _enums(items)
        case {"type": "record", "fields": fields}:
            for field in fields:
                yield from _enums(field["type"])
        case list():
            for branch in avro:
                yield from _enums(branch)


def released() -> Iterator[tuple[str, str, str]]:
    """Yield (version, event type, schema text) of everything that was ever released."""
    for path in sorted(RELEASED_DIRECTORY.glob("*/*.avsc")):
        yield path.parent.name, path.stem, json.dumps(json.loads(path.read_text()))


def main() -> int:
    """Print every problem on stderr; 0 if there is none."""
    found = list(problems())
    for problem in found:
        sys.stderr.write(f"{problem}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
