"""Token buckets, by name: what each holds drips in at its rate, up to what comes in a burst."""

import math
from dataclasses import dataclass

BURST_SECONDS = 2.0
LONGEST_SECONDS = 86_400.0  # that a caller is told to wait, however small its rate
MAX_BUCKETS = 20_000  # then the full ones are let go of: a bucket that begins is full too


@dataclass(slots=True)
class Bucket:
    """What is left of one rate. It may owe: who takes without asking pays later."""

    per_second: float
    tokens: float
    at: float

    def fill(self, now: float) -> None:
        """Add what has dripped in since."""
        self.tokens = min(self.size, self.tokens + (now - self.at) * self.per_second)
        self.at = now

    @property
    def size(self) -> float:
        """How many it holds when it is full."""
        return burst(self.per_second)

    def seconds_until(self, tokens: float) -> float:
        """How long it takes until it holds so many."""
        return min(LONGEST_SECONDS, max(0.0, tokens - self.tokens) / self.per_second)

    def told(self, name: str) -> str:
        """Say how many calls are left, and in how many seconds all are."""
        return f'"{name}";r={int(self.tokens)};t={math.ceil(self.seconds_until(self.size))}'


class Buckets:
    """Keeps those that are not full, and some that are."""

    def __init__(self) -> None:
        self._buckets: dict[str, Bucket] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def filled(self, name: str, per_second: float, now: float) -> Bucket:
        """Return the bucket of this name as it stands now."""
        bucket = self._buckets.get(name)
        if bucket is None or bucket.per_second != per_second:
            if len(self._buckets) >= MAX_BUCKETS:
                self._forget(now)
            bucket = self._buckets[name] = Bucket(per_second, burst(per_second), now)
        bucket.fill(now)
        return bucket

    def _forget(self, now: float) -> None:
        for each in self._buckets.values():
            each.fill(now)
        self._buckets = {name: each for name, each in self._buckets.items() if each.tokens < each.size}


def burst(per_second: float) -> float:
    """Return how many may come at once."""
    return max(1.0, per_second * BURST_SECONDS)


def told_to_wait(seconds: float) -> dict[str, str]:
    """Return the header that says when to come again."""
    return {"Retry-After": str(max(1, math.ceil(seconds)))}
