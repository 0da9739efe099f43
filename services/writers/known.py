"""What was looked up lately: believed for some seconds, so that a change is soon in effect and a look-up is rare."""

import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Name = TypeVar("Name", bound=Hashable)
Value = TypeVar("Value")
MOST = 10_000  # then all is forgotten


class Known(Generic[Name, Value]):
    """Looks up what it does not know, or has known for too long."""

    def __init__(self, look_up: Callable[[Name], Awaitable[Value]], *, seconds: float) -> None:
        self._look_up = look_up
        self._seconds = seconds
        self._known: dict[Name, tuple[float, Value]] = {}

    async def find(self, name: Name) -> Value:
        """Return what was found at most so many seconds ago; raises what a look-up raises."""
        known = self._known.get(name)
        if known and known[0] > time.monotonic():
            return known[1]
        found = await self._look_up(name)
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[name] = (time.monotonic() + self._seconds, found)
        return found
