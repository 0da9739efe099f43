"""How many calls a key and its org may make: two token buckets each, in the memory of this API process.

A key may make so many calls a second, and in a burst those of two seconds; all keys of an org together twice as many.
What is over is refused before anything is looked up for it, so that one org's load does not slow another's.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from api.auth import Caller
from api.errors import Problem

BURST_SECONDS = 2.0
ORG_FACTOR = 2.0
LONGEST_SECONDS = 86_400.0  # that a caller is told to wait, however small its rate
MAX_BUCKETS = 20_000  # then the full ones are let go of: a bucket that begins is full too


@dataclass(slots=True)
class _Bucket:
    calls_per_second: float
    tokens: float
    at: float

    def fill(self, now: float) -> None:
        """Add what has dripped in since."""
        self.tokens = min(self.size, self.tokens + (now - self.at) * self.calls_per_second)
        self.at = now

    @property
    def size(self) -> float:
        """How many calls it holds when it is full."""
        return _burst(self.calls_per_second)

    def seconds_until(self, tokens: float) -> float:
        """How long it takes until it holds so many."""
        return min(LONGEST_SECONDS, max(0.0, tokens - self.tokens) / self.calls_per_second)

    def told(self, name: str) -> str:
        """Say how many calls are left, and in how many seconds all are."""
        return f'"{name}";r={int(self.tokens)};t={math.ceil(self.seconds_until(self.size))}'


class Limiter:
    """Counts the calls of keys and orgs; where the org has no rate of its own, by `calls_per_second`. 0: no limit."""

    def __init__(self, calls_per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._calls_per_second = calls_per_second
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    def take(self, caller: Caller) -> dict[str, str]:
        """Count a call and return the headers that say what is left, or raise a Problem `rate_limited`."""
        rate = self._calls_per_second if caller.calls_per_second is None else caller.calls_per_second
        if not rate or not caller.org_id:  # the operator is not counted
            return {}
        now = self._clock()
        key = self._filled(caller.actor, rate, now)
        org = self._filled(f"org:{caller.org_id}", rate * ORG_FACTOR, now)
        wait = max(key.seconds_until(1), org.seconds_until(1))
        if not wait:
            key.tokens -= 1
            org.tokens -= 1
        headers = {"RateLimit-Policy": _policy(rate), "RateLimit": f"{key.told('key')}, {org.told('org')}"}
        if wait:
            whose = "this key" if key.tokens < 1 else "the keys of this org together"
            raise Problem(
                "rate_limited",
                f"{whose} made too many calls at once: wait, and spread them",
                headers={**headers, "Retry-After": str(max(1, math.ceil(wait)))},
            )
        return headers

    def _filled(self, name: str, rate: float, now: float) -> _Bucket:
        bucket = self._buckets.get(name)
        if bucket is None or bucket.calls_per_second != rate:
            if len(self._buckets) >= MAX_BUCKETS:
                self._forget(now)
            bucket = self._buckets[name] = _Bucket(rate, 0.0, now)
            bucket.tokens = bucket.size
        bucket.fill(now)
        return bucket

    def _forget(self, now: float) -> None:
        self._buckets = {name: each for name, each in self._buckets.items() if now - each.at < BURST_SECONDS}


@cache
def _policy(rate: float) -> str:
    """Say how many calls are taken in which time, as the IETF's draft on rate limit headers has it."""
    window = f"w={BURST_SECONDS:g}"
    return f'"key";q={int(_burst(rate))};{window}, "org";q={int(_burst(rate * ORG_FACTOR))};{window}'


def _burst(calls_per_second: float) -> float:
    return max(1.0, calls_per_second * BURST_SECONDS)
