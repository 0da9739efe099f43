"""Reads the `private` bytes of events; where they are closed the columns are null, and the bytes are kept.

Texts come out as Postgres can hold them; of JSON values `schemas.storable` makes what it can hold.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from schemas.event import Event
from schemas.private import private_json
from schemas.storable import storable_text
from services.runtime.shredding.codec import Keys, revealed

_decode = msgspec.json.Decoder().decode
Open = Callable[[Event], dict[str, Any]]


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


def in_clear(event: Event) -> dict[str, Any]:
    """Open the private bytes of an event without any key."""
    return opened(event.private)


def opener(keys: Keys) -> Open:
    """Return what opens private bytes with these keys; those of a job whose key is gone open to nothing."""

    def open_event(event: Event) -> dict[str, Any]:
        return opened(revealed(event.private, (event.org_id, event.job_id), keys))

    return open_event if keys else in_clear
