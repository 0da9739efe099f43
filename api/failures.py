"""How many calls may come with a key that is not good: from one address, and look-ups of unknown keys in all.

Only callers whose key this process has not found good before are asked to wait: whoever guesses keeps no customer out.
"""

from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network

from api.buckets import Buckets, told_to_wait
from api.errors import Problem
from services.runtime.time import monotonic

ALL_FACTOR = 10.0  # as many look-ups in all as so many addresses may fail
NETWORK_BITS = 64  # of an IPv6 address: what one customer of a network has
_ALL = "all"


class Failures:
    """Counts the calls that failed; `per_second` those of one address, twice as many in a burst. 0: no limit."""

    def __init__(self, per_second: float = 0.0, clock: Callable[[], float] = monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._buckets = Buckets()

    def refuse_more(self, address: str) -> None:
        """Raise a Problem `rate_limited` where too many calls of this address have failed."""
        self._refuse(_network(address), self._per_second, "this address sent too many keys that are not good")

    def refuse_look_up(self) -> None:
        """Raise a Problem `rate_limited` where too many unknown keys were looked up, whoever sent them."""
        rate = self._per_second * ALL_FACTOR
        self._refuse(_ALL, rate, "too many keys that are not good are being sent, and this one is not known here yet")

    def note(self, address: str) -> None:
        """Count a call that failed; several that came at once may all have been let through, and are owed."""
        if self._per_second:
            now = self._clock()
            self._buckets.filled(_network(address), self._per_second, now).tokens -= 1

    def note_look_up(self) -> None:
        """Count a look-up that found no key."""
        if self._per_second:
            self._buckets.filled(_ALL, self._per_second * ALL_FACTOR, self._clock()).tokens -= 1

    def _refuse(self, name: str, per_second: float, why: str) -> None:
        if not per_second:
            return
        wait = self._buckets.filled(name, per_second, self._clock()).seconds_until(1)
        if wait:
            raise Problem("rate_limited", f"{why}: wait, and check the key", headers=told_to_wait(wait))


def _network(address: str) -> str:
    """Return whose address it is: an IPv4 address is one caller, of IPv6 everybody has a network."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address  # a socket of this machine
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ip_network((parsed, NETWORK_BITS), strict=False))
    return str(parsed)
