"""Reads the `private` bytes of events; of an encoding that is not known here the columns are null, the bytes are kept.

Texts come out as Postgres can hold them; of JSON values `schemas.storable` makes what it can hold.
"""

from typing import Any

import msgspec

from schemas.private import private_json
from schemas.storable import storable_text

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
    return storable_text(value) if isinstance(value, str) and value else None
