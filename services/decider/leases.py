"""Which workers have been silent for too long, on a clock that an outage does not push forward."""

from collections.abc import Iterable

from services.ledger.policy import Policy


class LeaseClock:
    """Counts the silence of each run of a worker. One look at the clock adds at most two heartbeats to it."""

    def __init__(self, policy: Policy, now: int) -> None:
        self._policy = policy
        self._last = now
        self._elapsed = 0
        self._heard: dict[str, int] = {}

    def advance(self, now: int) -> None:
        """Let time pass, up to now (microseconds)."""
        self._elapsed += max(0, min(now - self._last, 2 * self._policy.heartbeat))
        self._last = now

    def heard(self, boot_id: str) -> None:
        """A worker gave a sign of life."""
        self._heard[boot_id] = self._elapsed

    def silent(self, boot_ids: Iterable[str]) -> list[str]:
        """Return the runs that have been silent for longer than their lease; unheard-of ones start their lease now."""
        known = {boot_id: self._heard.get(boot_id, self._elapsed) for boot_id in boot_ids}
        self._heard = known
        return [boot_id for boot_id, at in known.items() if self._elapsed - at > self._policy.lease]

    def restart(self) -> None:
        """Give every worker a full lease again: nothing could be heard for a while."""
        self._heard.clear()
