"""Who calls: an org by its key, or the operator. Keys are looked up again every few seconds, so a revoked one dies."""

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from multidict import MultiMapping

from api.config.keys import Grant, opens, parts_of
from api.errors import Problem
from api.failures import Failures
from services.runtime.time import monotonic

T = TypeVar("T")
TRUST_SECONDS = 3.0  # how long a looked-up key is believed: the longest that a revoked or expired one still works
RENEW_SECONDS = 2.0  # after which it is looked up anew while calls go on with it: none of them waits for that
USED_SECONDS = 300.0  # between two notes that a key is in use, by one process
MAX_REMEMBERED = 10_000  # keys that were found, and as many that were not; then the oldest are forgotten
_KEY_NAMES = frozenset({"key", "apikey", "api_key", "api-key", "token", "access_token", "authorization"})
_KEY_TEXT = re.compile(r"jlk_[0-9a-zA-Z]|(?<![0-9a-zA-Z])sk_[0-9a-f]{16}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call; the org is empty for the operator and for open calls."""

    actor: str = ""
    org_id: str = ""
    partition: int = 0
    scopes: frozenset[str] = frozenset()
    erasure: bool = False  # whether the org's new jobs are sealed
    calls_per_second: float | None = None  # of each key of the org; None: as the API is set


class Keyring:
    """Tells callers by their Authorization header."""

    def __init__(
        self,
        find: Callable[[str], Awaitable[Grant | None]],
        operator_key: str,
        used: Callable[[Grant], Awaitable[None]],
        clock: Callable[[], float] = monotonic,
        failures: Failures | None = None,
    ) -> None:
        self._find = find
        self._used = used
        self._operator_key = operator_key.encode()
        self._clock = clock
        self._failures = failures or Failures()
        self._known: dict[str, tuple[float, Grant]] = {}
        self._unknown: dict[str, float] = {}  # apart, so that no guess pushes out a key that is in use
        self._looked_up: dict[str, asyncio.Task[Grant | None]] = {}  # by key, while Postgres is asked
        self._noted: dict[str, float] = {}  # when a key was last noted to be in use

    async def caller(self, authorization: str, address: str | None = None) -> Caller:
        """Return who this header names, or raise a Problem `unauthenticated`, or `rate_limited` for an address."""
        scheme, _, text = authorization.partition(" ")
        if scheme.lower() != "bearer" or not text.strip():
            raise unauthenticated("send the header `Authorization: Bearer <key>`")
        text = text.strip()
        parts = parts_of(text)
        if address is not None and not (parts and parts[0] in self._known):
            self._failures.refuse_more(address)
        if self._operator_key and hmac.compare_digest(text.encode("utf-8", "replace"), self._operator_key):
            return Caller(actor="operator", scopes=frozenset({"operator"}))
        grant = await self._grant(parts[0]) if parts else None
        if not parts or not grant or not opens(grant, parts[1]):
            if address is not None:
                self._failures.note(address)
            raise unauthenticated("this key is unknown, revoked or expired")
        await self._note(grant)
        scopes = frozenset(grant.scopes)
        return Caller(
            actor=f"api:{grant.key_id}",
            org_id=grant.org_id,
            partition=grant.partition,
            scopes=scopes,
            erasure=grant.erasure,
            calls_per_second=grant.calls_per_second,
        )

    def forget(self, key_id: str) -> None:
        """Ask for a key anew at its next call: it was revoked, or ends sooner than it did."""
        self._known.pop(key_id, None)
        self._looked_up.pop(key_id, None)  # what a look-up that is under way finds may be of before

    async def _note(self, grant: Grant) -> None:
        now = self._clock()
        if now - self._noted.get(grant.key_id, -USED_SECONDS) >= USED_SECONDS:
            if len(self._noted) >= MAX_REMEMBERED:
                self._noted.clear()
            self._noted[grant.key_id] = now
            await self._used(grant)

    async def _grant(self, key_id: str) -> Grant | None:
        now = self._clock()
        known = self._known.get(key_id)
        age = now - known[0] if known else TRUST_SECONDS
        if known and age < TRUST_SECONDS:
            if age >= RENEW_SECONDS:
                self._look_up(key_id)
            return known[1]
        if now - self._unknown.get(key_id, -TRUST_SECONDS) < TRUST_SECONDS:
            return None
        if not known:
            self._failures.refuse_look_up()
        return await asyncio.shield(self._look_up(key_id))

    def _look_up(self, key_id: str) -> "asyncio.Task[Grant | None]":
        """Return the look-up of a key that is under way, or begin one: many calls at once need no more."""
        task = self._looked_up.get(key_id)
        if task is None:
            task = self._looked_up[key_id] = asyncio.create_task(self._found(key_id))
            task.add_done_callback(partial(self._heard, key_id))
        return task

    def _heard(self, key_id: str, task: "asyncio.Task[Grant | None]") -> None:
        if self._looked_up.get(key_id) is task:
            del self._looked_up[key_id]
        if not task.cancelled():
            task.exception()  # who waits for it has it; where nobody does, the next call asks again

    async def _found(self, key_id: str) -> Grant | None:
        now = self._clock()  # before it is asked: what is trusted is no older than that
        grant = await self._find(key_id)
        if grant is None:
            self._known.pop(key_id, None)
            _remember(self._unknown, key_id, now)
            self._failures.note_look_up()
        elif self._looked_up.get(key_id) is asyncio.current_task():
            self._unknown.pop(key_id, None)
            _remember(self._known, key_id, (now, grant))
        return grant


def _remember(where: dict[str, T], key_id: str, what: T) -> None:
    where.pop(key_id, None)  # what was looked up last stands last
    if len(where) >= MAX_REMEMBERED:
        del where[next(iter(where))]
    where[key_id] = what


def unauthenticated(message: str) -> Problem:
    """Return the answer for a caller that is not known."""
    return Problem("unauthenticated", message, headers={"WWW-Authenticate": 'Bearer realm="jobledger"'})


def require(caller: Caller, access: str, *, operator_too: bool = False) -> None:
    """Raise a Problem `forbidden` unless the caller may make a call of this kind."""
    if access in caller.scopes or (operator_too and "operator" in caller.scopes):
        return
    if access == "operator":
        raise Problem("forbidden", "this call takes the operator key")
    if "operator" in caller.scopes:
        raise Problem("forbidden", "this call takes a key of an org, not the operator key")
    raise Problem("forbidden", f"this key lacks the scope {access}")


def refuse_key_in_url(query: MultiMapping[str], path: str) -> None:
    """Raise a Problem where the URL carries a key: URLs end up in logs, histories and proxies."""
    named = any(name.lower() in _KEY_NAMES for name in query)
    if named or _KEY_TEXT.search(path) or any(_KEY_TEXT.search(text) for pair in query.items() for text in pair):
        raise Problem(
            "key_in_url", "the URL carries an API key: send it as `Authorization: Bearer ...`, revoke this one"
        )
