"""Signatures of Standard Webhooks (v1): an HMAC over exactly the bytes that are sent."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

PREFIX = "whsec_"
SIGNATURE = "webhook-signature"
SECRET_BYTES = 32


def new_secret() -> str:
    """Return a secret as its receiver gets it."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def headers_of(message_id: str, at_seconds: int, body: bytes, keys: Sequence[str]) -> dict[str, str]:
    """Return the headers of a message; one signature per secret, so that a receiver may hold the old or the new one."""
    return {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(at_seconds),
        SIGNATURE: " ".join(_signature(message_id, at_seconds, body, key) for key in keys),
    }


def _signature(message_id: str, at_seconds: int, body: bytes, secret: str) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    digest = hmac.digest(key, b"%b.%d.%b" % (message_id.encode(), at_seconds, body), hashlib.sha256)
    return "v1," + base64.b64encode(digest).decode()
