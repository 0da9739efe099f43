"""One line of a queue: jobs of one workflow that wait for the same thing, the one that goes first in front.

Nothing is looked up and removed in a line when a job leaves: an entry counts for as long as its job says that it
waits, and is dropped when it is met in front, or with all others like it when the line is swept.
"""

import heapq
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from services.ledger.job import Job

DUE = 0  # retries whose time has come go before all others
WAITING = 1
RELEASED = 0  # of a priority, jobs that come back go before jobs that never ran: they were submitted earlier
FRESH = 1
DROPPED_AT_LEAST = 64  # entries that are let go together, so that each costs the same however long the line is

Waits = Callable[[str], Job | None]  # the job of an entry, or None where the entry does not count any more


class Place(NamedTuple):
    """Where a job stands in the queue of its org, the lowest first."""

    rank: int  # DUE or WAITING
    last: int  # negative priority: the highest goes first
    part: int  # RELEASED or FRESH
    since: int  # microseconds UTC: when it was submitted, or when its retry became due
    job_id: str


class FreshLine:
    """Jobs that were never dispatched, of one priority, in the order of their submission: a reference for each."""

    __slots__ = ("_gone", "_ids", "listed")

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._gone = 0  # entries at the beginning that are done with
        self.listed: Place | None = None  # what the queue has of it among its fronts

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, job_id: str) -> None:
        """Put a job at the end."""
        self._ids.append(job_id)

    def front(self, waits: Waits) -> Place | None:
        """Return the place of the first that still waits, or None."""
        while self._gone < len(self._ids):
            job = waits(self._ids[self._gone])
            if job is not None:
                return fresh_place(job)
            self._gone += 1
            if self._gone >= DROPPED_AT_LEAST and 2 * self._gone >= len(self._ids):
                del self._ids[: self._gone]
                self._gone = 0
        return None

    def places(self, waits: Waits) -> Iterator[Place]:
        """Yield the places of all that still wait, in order."""
        for number in range(self._gone, len(self._ids)):
            job = waits(self._ids[number])
            if job is not None:
                yield fresh_place(job)

    def sweep(self, waits: Waits) -> None:
        """Drop the entries that do not count any more."""
        self._ids = [job_id for job_id in islice(self._ids, self._gone, None) if waits(job_id) is not None]
        self._gone = 0


class SortedLine:
    """Jobs in the order of their places, whenever they came: few, so that each is kept with its place."""

    __slots__ = ("_heap", "listed")

    def __init__(self) -> None:
        self._heap: list[Place] = []
        self.listed: Place | None = None  # what the queue has of it among its fronts

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, place: Place) -> None:
        """Put a job at its place."""
        heapq.heappush(self._heap, place)

    def front(self, waits: Callable[[Place], Job | None]) -> Place | None:
        """Return the first place whose job still waits, or None."""
        while self._heap:
            if waits(self._heap[0]) is not None:
                return self._heap[0]
            heapq.heappop(self._heap)
        return None

    def places(self, waits: Callable[[Place], Job | None]) -> Iterator[Place]:
        """Yield the places of all that still wait, in order."""
        return (place for place in sorted(set(self._heap)) if waits(place) is not None)

    def sweep(self, waits: Callable[[Place], Job | None]) -> None:
        """Drop the entries that do not count any more."""
        self._heap = list(self.places(waits))


def released_place(job: Job) -> Place:
    """Return where a job stands that lost its worker."""
    return Place(WAITING, -job.terms.priority, RELEASED, job.submitted_at, job.job_id)


def due_place(job_id: str, due_at: int) -> Place:
    """Return where a retry stands that is due."""
    return Place(DUE, 0, RELEASED, due_at, job_id)


def fresh_place(job: Job) -> Place:
    """Return where a job stands that was never dispatched."""
    return Place(WAITING, -job.terms.priority, FRESH, job.submitted_at, job.job_id)
