"""API keys: `jlk_<key id>_<secret>`. The database holds a digest only, so a secret is shown once, when it is made."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from api.config.store import Pool, one, row, rows

Scope = Literal["read", "submit", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "submit", "admin")
PREFIX = "jlk_"
_KEY = re.compile(r"jlk_([0-9a-f]{16})_([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Key:
    """A row of config.api_keys."""

    key_id: str
    org_id: str
    name: str
    digest: bytes
    scopes: list[str]
    created_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class Grant:
    """What a live key allows, and where its org's ledger is."""

    key_id: str
    org_id: str
    digest: bytes
    scopes: list[str]
    partition: int
    erasure: bool = False  # whether what its jobs say of people is sealed, so that it can be erased


def parts_of(text: str) -> tuple[str, str] | None:
    """Split a key into its id and its secret; None where it has not the form of one."""
    match = _KEY.fullmatch(text)
    return (match[1], match[2]) if match else None


def opens(grant: Grant, secret: str) -> bool:
    """Compare a secret with the digest kept, in constant time. It has 256 random bits: no salt, no stretching."""
    return hmac.compare_digest(_digest(secret), grant.digest)


async def create(pool: Pool, org_id: str, name: str, scopes: Iterable[str]) -> tuple[Key, str]:
    """Make a key and return it with its full text, which is nowhere to be had later."""
    key_id, secret = secrets.token_hex(8), secrets.token_hex(32)
    kept = [scope for scope in SCOPES if scope in set(scopes)]
    values = {"key_id": key_id, "org_id": org_id, "name": name, "digest": _digest(secret), "scopes": kept}
    async with pool.connection() as connection:
        key = await one(connection, Key, "save_key", values)
    return key, f"{PREFIX}{key_id}_{secret}"


async def every(pool: Pool, org_id: str) -> list[Key]:
    """Return the keys of an org, revoked ones included, oldest first."""
    async with pool.connection() as connection:
        return await rows(connection, Key, "keys_of_org", {"org_id": org_id})


async def revoke(pool: Pool, org_id: str, key_id: str) -> Key | None:
    """Revoke a key of an org for good; None where it has no such key. Safe to repeat."""
    async with pool.connection() as connection:
        return await row(connection, Key, "revoke_key", {"org_id": org_id, "key_id": key_id})


async def grant_of(pool: Pool, key_id: str) -> Grant | None:
    """Return what a key allows; None where it is unknown or revoked."""
    async with pool.connection() as connection:
        return await row(connection, Grant, "grant_of_key", {"key_id": key_id})


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
