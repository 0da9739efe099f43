"""Gathers events for a moment before they are inserted: ClickHouse likes few large inserts."""

from collections.abc import Callable, Iterable
from typing import Protocol

from schemas.events import WorkerAlive
from services.runtime.raw_log import RawEntry
from services.runtime.time import monotonic

LINGER_SECONDS = 0.5  # from the first event of an insert on; a small insert costs ClickHouse as much as a large one
# An insert of so many is worth its cost: at 2,000 events/s they are there after a tenth of a second. Who gets still
# more at once is behind, and gathers on: few large inserts catch up.
ENOUGH_EVENTS, MANY_EVENTS = 200, 2_000
SOON_SECONDS = 0.02  # in which more come at once where the reader is behind
MOST_EVENTS = 80_000  # of one insert: one of so many costs two thirds of four of a quarter
MOST_BYTES = 32 * 1024 * 1024  # of one insert, as soon as there is so much
SIGNS_SECONDS = 2.0  # that signs of life wait for one another, below what counts as a standstill
SIGN = WorkerAlive.__name__


def worth_an_insert(entries: Iterable[RawEntry], waited_seconds: float) -> bool:
    """Whether what waits is inserted now. An idle ledger says nothing but signs of life, one after the other."""
    return waited_seconds >= SIGNS_SECONDS or any(entry.event_type != SIGN for entry in entries)


def lingers(events: int) -> float:
    """Return for how many seconds from the first on more is waited for, where so many events came."""
    return SOON_SECONDS if ENOUGH_EVENTS <= events < MANY_EVENTS else LINGER_SECONDS


class Entries(Protocol):
    """What is gathered from: a RawLog."""

    def poll(self, max_events: int, timeout_seconds: float) -> list[RawEntry]:
        """Return the next events, [] if there are none in time."""

    def close(self) -> None:
        """Let go of it."""


class GatheringLog:
    """A RawLog whose `poll` waits a little for more once something came."""

    def __init__(self, log: Entries, clock: Callable[[], float] = monotonic) -> None:
        self._log = log
        self._clock = clock

    def poll(self, max_events: int, timeout_seconds: float) -> list[RawEntry]:
        """Return up to `max_events` events, waiting at most `timeout_seconds` for the first of them."""
        entries = self._log.poll(max_events, timeout_seconds)
        began, size = self._clock(), sum(len(entry.raw) for entry in entries)
        while entries and len(entries) < max_events and size < MOST_BYTES:
            left = began + lingers(len(entries)) - self._clock()
            if left <= 0:
                break
            more = self._log.poll(max_events - len(entries), left)
            entries += more
            size += sum(len(entry.raw) for entry in more)
        return entries

    def close(self) -> None:
        """Leave the broker."""
        self._log.close()
