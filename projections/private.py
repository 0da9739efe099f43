"""Reads the `private` bytes of events; of an encoding that is not known here the columns are null, the bytes are kept.

What comes out is what Postgres can hold: text without NUL characters, JSON without NUL and without infinities.
"""

from typing import Any

import msgspec

from schemas.private import private_json

NUL, REPLACEMENT = "\0", "�"
_decode = msgspec.json.Decoder().decode


def opened(private: bytes) -> dict[str, Any]:
    """Return the object in these bytes; empty where they are empty, encrypted or no JSON object."""
    text = private_json(private)
    if text is None:
        return {}
    try:
        value = _decode(text)
    except (ValueError, RecursionError):  # not ours to refuse: the event is a fact
        return {}
    return value if isinstance(value, dict) else {}


def text_of(private: dict[str, Any], name: str) -> str | None:
    """Return a member that is a text, as Postgres can hold it, or None."""
    value = private.get(name)
    return storable(value) if isinstance(value, str) and value else None


def storable(text: str) -> str:
    """Return a text as Postgres can hold it: NUL characters replaced."""
    return text.replace(NUL, REPLACEMENT) if NUL in text else text


def storable_json(value: Any) -> Any:
    """Return a JSON value as `jsonb` can hold it: NUL characters replaced in every text."""
    match value:
        case str():
            return storable(value)
        case list():
            return [storable_json(item) for item in value]
        case dict():
            return {storable(key): storable_json(item) for key, item in value.items()}
        case _:
            return value
