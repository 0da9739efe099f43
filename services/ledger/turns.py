"""Whose turn it is among the orgs that could take a slot of one kind at once: one turn an org and round.

A round makes turns equal, whatever an org asks for; the order inside of it is free, and goes by who is helped soonest.
An org whose whole wish is one slot goes first, then one that has nothing in flight, then the others. Among equals
turns go to the one that came last and to the one that has waited longest, by turns: nobody waits behind all others
because they came first, nor for as long as others keep coming.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator

RANKS = 3
ONE_SLOT, NONE_IN_FLIGHT, SOME_IN_FLIGHT = range(RANKS)
Orgs = OrderedDict[str, None]  # in the order of their coming


class Turns:
    """The orgs that could take a slot of one kind."""

    __slots__ = ("_at", "had", "last", "later", "latest_next", "now")

    def __init__(self) -> None:
        self.now: list[Orgs] = [OrderedDict() for _ in range(RANKS)]  # by rank: those whose turn is in this round
        self.later: list[Orgs] = [OrderedDict() for _ in range(RANKS)]  # those who had it, and want another
        self.had: set[str] = set()  # every org that had its turn in this round
        self.latest_next = True  # among equals: the one that came last, or else the one that has waited longest
        self.last = ""  # the org that had the turn before: whoever has several in a row has them alone
        self._at: dict[str, Orgs] = {}

    def __len__(self) -> int:
        return len(self._at)

    def __contains__(self, org_id: str) -> bool:
        return org_id in self._at

    def __iter__(self) -> Iterator[str]:
        """Yield the orgs: those of this round by rank, then the others."""
        for orgs in (*self.now, *self.later):
            yield from orgs

    def put(self, org_id: str, rank: int) -> None:
        """An org could take a slot; it keeps its place while its rank is the same."""
        orgs = (self.later if org_id in self.had else self.now)[rank]
        at = self._at.get(org_id)
        if at is orgs:
            return
        if at is not None:
            del at[org_id]
        orgs[org_id] = None
        self._at[org_id] = orgs

    def leave(self, org_id: str) -> None:
        """An org could not take a slot now: it has nothing to run, has all that it may have, or is paused."""
        at = self._at.pop(org_id, None)
        if at is not None:
            del at[org_id]

    def first(self) -> str | None:
        """Return the org whose turn it is."""
        for orgs in (*self.now, *self.later):
            if orgs:
                return next(reversed(orgs) if self.latest_next else iter(orgs))
        return None

    def take(self, org_id: str) -> None:
        """An org has taken a slot: its turn of this round is over."""
        if not any(self.now):
            self.now, self.later = self.later, self.now
            self.had.clear()
        at = self._at.pop(org_id, None)
        if at is not None:
            del at[org_id]
        self.latest_next = org_id == self.last or not self.latest_next
        self.last = org_id
        self.had.add(org_id)

    def restore(
        self,
        now: Iterable[Iterable[str]],
        later: Iterable[Iterable[str]],
        had: Iterable[str],
        last: str,
        *,
        latest_next: bool,
    ) -> None:
        """Stand as it stood when it was written down."""
        self.now = [OrderedDict.fromkeys(orgs) for orgs in now]
        self.later = [OrderedDict.fromkeys(orgs) for orgs in later]
        self.had, self.last, self.latest_next = set(had), last, latest_next
        self._at = {org_id: orgs for orgs in (*self.now, *self.later) for org_id in orgs}
