"""API keys: `jlk_<key id>_<secret>`, and for clients that know them so with `sk_` before the same.

The database holds a digest only, so a secret is shown once, when it is made.
"""

import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import psycopg
import psycopg_pool
from psycopg import AsyncConnection

from api.config.store import Pool, execute, one, row, rows, transaction

log = logging.getLogger(__name__)

Scope = Literal["read", "submit", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "submit", "admin")
PREFIX = "jlk_"
SPIDER_PREFIX = "sk_"  # as clients of the API of spiders expect it: the same keys
_KEY = re.compile(r"(?:jlk|sk)_([0-9a-f]{16})_([0-9a-f]{64})")


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
    expires_at: datetime | None  # of one that was rotated: from then on it opens nothing
    last_used_at: datetime | None  # to some minutes


@dataclass(frozen=True, slots=True)
class Grant:
    """What a live key allows, and where its org's ledger is."""

    key_id: str
    org_id: str
    digest: bytes
    scopes: list[str]
    partition: int
    erasure: bool = False  # whether what its jobs say of people is sealed, so that it can be erased
    calls_per_second: float | None = None  # None: the org has no rate of its own


def parts_of(text: str) -> tuple[str, str] | None:
    """Split a key into its id and its secret; None where it has not the form of one."""
    match = _KEY.fullmatch(text)
    return (match[1], match[2]) if match else None


def opens(grant: Grant, secret: str) -> bool:
    """Compare a secret with the digest kept, in constant time. It has 256 random bits: no salt, no stretching."""
    return hmac.compare_digest(_digest(secret), grant.digest)


async def create(pool: Pool, org_id: str, name: str, scopes: Iterable[str]) -> tuple[Key, str]:
    """Make a key and return it with its full text, which is nowhere to be had later."""
    async with pool.connection() as connection:
        return await _created(connection, org_id, name, scopes)


async def rotate(pool: Pool, org_id: str, key_id: str, overlap: timedelta) -> tuple[Key, str] | None:
    """Make a key like another one, which works for the overlap still; None where the org has no such live key."""
    async with transaction(pool) as connection:
        values = {"org_id": org_id, "key_id": key_id, "overlap": overlap}
        old = await row(connection, Key, "expire_key", values)
        return await _created(connection, org_id, old.name, old.scopes) if old else None


async def _created(connection: AsyncConnection[Any], org_id: str, name: str, scopes: Iterable[str]) -> tuple[Key, str]:
    key_id, secret = secrets.token_hex(8), secrets.token_hex(32)
    kept = [scope for scope in SCOPES if scope in set(scopes)]
    values = {"key_id": key_id, "org_id": org_id, "name": name, "digest": _digest(secret), "scopes": kept}
    return await one(connection, Key, "save_key", values), f"{PREFIX}{key_id}_{secret}"


async def every(pool: Pool, org_id: str) -> list[Key]:
    """Return the keys of an org, revoked ones included, oldest first."""
    async with pool.connection() as connection:
        return await rows(connection, Key, "keys_of_org", {"org_id": org_id})


async def revoke(pool: Pool, org_id: str, key_id: str) -> Key | None:
    """Revoke a key of an org for good; None where it has no such key. Safe to repeat."""
    async with pool.connection() as connection:
        return await row(connection, Key, "revoke_key", {"org_id": org_id, "key_id": key_id})


async def used(pool: Pool, grant: Grant) -> None:
    """Note that a key is in use; that is no reason to fail a call."""
    try:
        async with pool.connection() as connection:
            await execute(connection, "note_use_of_key", {"org_id": grant.org_id, "key_id": grant.key_id})
    except (psycopg.Error, psycopg_pool.PoolTimeout) as error:
        log.warning("use of a key not noted", extra={"key_id": grant.key_id, "reason": type(error).__name__})


async def grant_of(pool: Pool, key_id: str) -> Grant | None:
    """Return what a key allows; None where it is unknown, revoked or expired."""
    async with pool.connection() as connection:
        return await row(connection, Grant, "grant_of_key", {"key_id": key_id})


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
