"""Which workers have been silent for too long, on a clock that counts only while they could be heard.

A worker is silent only in time up to which everything that was said has been read: `Hearing` tells how far that is,
`LeaseClock` counts it. A broker that is away, a decider that stood still or fell behind take nothing from a lease.
"""

from collections.abc import Callable, Iterable

from services.ledger.policy import Policy

LOOKS = 4  # at the broker in a heartbeat


class LeaseClock:
    """Counts the silence of each run of a worker. One look adds at most half a heartbeat to it."""

    def __init__(self, policy: Policy, now: int) -> None:
        self._policy = policy
        self._last = now
        self._elapsed = 0
        self._heard: dict[str, int] = {}

    def advance(self, now: int) -> None:
        """Let time pass, up to now (microseconds)."""
        self._elapsed += max(0, min(now - self._last, self._policy.heartbeat // 2))
        self._last = now

    def heard(self, boot_id: str) -> None:
        """A worker gave a sign of life."""
        self._heard[boot_id] = self._elapsed

    def silent(self, boot_ids: Iterable[str]) -> list[str]:
        """Return the runs that have been silent for longer than their lease; unheard-of ones start their lease now."""
        known = {boot_id: self._heard.get(boot_id, self._elapsed) for boot_id in boot_ids}
        self._heard = known
        return [boot_id for boot_id, at in known.items() if self._elapsed - at > self._policy.lease]

    def restart(self, now: int) -> None:
        """Give every worker a full lease from now on: nothing could be heard for a while."""
        self._heard.clear()
        self._last = now


class Hearing:
    """Up to when everything that was said to a partition has been read.

    `end` asks the broker where the topic of commands ends, and raises BrokerFault where it is silent; `read` tells how
    far it was read.
    """

    def __init__(self, policy: Policy, end: Callable[[], int], read: Callable[[], int]) -> None:
        self._every = policy.heartbeat // LOOKS
        self._end, self._read = end, read
        self._until = 0
        self._asked: tuple[int, int] | None = None  # when, and where the topic ended then

    def until(self, now: int) -> int:
        """Return that moment (microseconds); asks the broker some times in a heartbeat."""
        if self._asked is None and not 0 <= now - self._until < self._every:
            self._asked = now, self._end()
        if self._asked is not None:
            asked_at, end = self._asked
            if self._read() >= end:
                self._until, self._asked = asked_at, None
        return self._until
