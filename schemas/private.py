"""The `private` bytes of events, commands and tasks: an encoding byte, then what that encoding made of a JSON object.

Encoding 0 is plain JSON. Encoding 1 is private bytes of another encoding, sealed under a key of their job: they stay
closed to whoever does not have it, and to everybody once it was destroyed.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

PLAIN_JSON = b"\0"
SEALED = b"\1"  # AES-256-GCM; schemas/sealed.py
MESSAGE_CHARS = 1000  # of an error's message; events stay small


def private_bytes(members: Mapping[str, Any]) -> bytes:
    """Return the private bytes of an object in plain JSON; empty for no members."""
    return PLAIN_JSON + msgspec.json.encode(members) if members else b""


def private_json(private: bytes) -> bytes | None:
    """Return the JSON text in private bytes; None where they are empty or of an encoding that is not known here."""
    return private[1:] if private[:1] == PLAIN_JSON else None
