"""How many partitions of a process decide and commit at a time: the others gather commands meanwhile (ADR 11).

A transaction costs broker and decider as much as dozens of commands, and the partitions of a process share an
interpreter: side by side they make many small transactions, in turn fewer and larger ones. Whoever finds a permit free
does not wait at all, and nobody waits long: a permit saves work, and nothing rests on having one.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

LEAST = 2  # one partition decides while another waits for its commit
PARTITIONS_A_PERMIT = 4  # so that a turn comes after some four commits, however many partitions there are
PATIENCE_SECONDS = 1.0


class Permits:
    """Lent to the threads of so many partitions in the order in which they ask."""

    def __init__(self, partitions: int = 1) -> None:
        self._lock = threading.Lock()
        self._free = max(LEAST, partitions // PARTITIONS_A_PERMIT)  # below zero: so many went without
        self._line: deque[threading.Event] = deque()

    @property
    def asked_for(self) -> int:
        """How many threads wait for one."""
        return len(self._line)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for a permit and keep it for as long as the context lasts; go without when none comes free in time."""
        self._take()
        try:
            yield
        finally:
            self._give()

    def _take(self) -> None:
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return
            mine = threading.Event()
            self._line.append(mine)
        mine.wait(PATIENCE_SECONDS)
        with self._lock:
            if mine in self._line:  # nobody gave one up
                self._line.remove(mine)
                self._free -= 1

    def _give(self) -> None:
        with self._lock:
            if self._line and self._free == 0:
                self._line.popleft().set()
            else:
                self._free += 1
