"""How many calls a key and its org may make: two token buckets each, in the memory of this API process.

A key may make so many calls a second, and in a burst those of two seconds; all keys of an org together twice as many.
What is over is refused before anything is looked up for it, so that one org's load does not slow another's.
"""

from collections.abc import Callable
from functools import cache

from api.auth import Caller
from api.buckets import BURST_SECONDS, Buckets, burst, told_to_wait
from api.errors import Problem
from services.runtime.time import monotonic

ORG_FACTOR = 2.0


class Limiter:
    """Counts the calls of keys and orgs; where the org has no rate of its own, by `calls_per_second`. 0: no limit."""

    def __init__(self, calls_per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._calls_per_second = calls_per_second
        self._clock = clock
        self._buckets = Buckets()

    def take(self, caller: Caller) -> dict[str, str]:
        """Count a call and return the headers that say what is left, or raise a Problem `rate_limited`."""
        rate = self._calls_per_second if caller.calls_per_second is None else caller.calls_per_second
        if not rate or not caller.org_id:  # the operator is not counted
            return {}
        now = self._clock()
        key = self._buckets.filled(caller.actor, rate, now)
        org = self._buckets.filled(f"org:{caller.org_id}", rate * ORG_FACTOR, now)
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
                headers={**headers, **told_to_wait(wait)},
            )
        return headers


@cache
def _policy(rate: float) -> str:
    """Say how many calls are taken in which time, as the IETF's draft on rate limit headers has it."""
    window = f"w={BURST_SECONDS:g}"
    return f'"key";q={int(burst(rate))};{window}, "org";q={int(burst(rate * ORG_FACTOR))};{window}'
