"""Names what was done to a log after it was written: an edited, reordered, dropped or missing last event.

Each event holds the hash of its org's event before it, and a position one higher than its partition's event before it.
So an edit shows at the next event of the org, a dropped or moved event in the positions, and the end of a chain, which
nothing in the log vouches for, in the signed head that was taken of it. A record that is no event is a fault where the
event is missing whose position it says; else somebody else wrote it, and readers leave it out (ADR 5).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from projections.heads.signing import SignedHead
from projections.verification.faults import Fault
from schemas.codec import Decoder
from services.ledger.record import digest_of
from services.ledger.state import NO_HASH
from services.runtime.reader import Record
from services.runtime.strangers import Stranger, claim_of, position_of

PLACE = "chain"
GAP_LISTED = 10_000  # positions of a gap that are named one by one


@dataclass(slots=True)
class _Link:
    """The newest event of an org: its place and hash, and whether the event before it did not fit."""

    position: int
    digest: bytes
    doubted: int | None = None  # position of the event before, which this one does not vouch for


@dataclass(slots=True)
class _Chain:
    """One walk through a partition."""

    partition: int
    heads: Mapping[str, SignedHead]  # by org
    last: int = 0
    absent: set[int] = field(default_factory=set)  # positions passed over; they may still come, out of order
    displaced: set[int] = field(default_factory=set)  # positions that came out of order
    links: dict[str, _Link] = field(default_factory=dict)
    newest: dict[str, int] = field(default_factory=dict)  # org -> highest position, in order or not
    faults: dict[tuple[str, int, str], Fault] = field(default_factory=dict)
    strangers: int = 0  # records that are no event, damaged ones too
    in_place_of: dict[int, str] = field(default_factory=dict)  # position that one of them says -> its key

    def leave_out(self, record: Record) -> None:
        """Take a record that is no event, but perhaps was one."""
        self.strangers += 1
        try:
            position = position_of(record)
        except Stranger:
            return
        if position > self.last:
            self.in_place_of[position] = record.key

    def take(self, record: Record, prev_hash: bytes, position: int) -> None:
        """Take the next event."""
        org_id, digest = record.key, digest_of(record.value)
        self.newest[org_id] = max(position, self.newest.get(org_id, 0))
        if not self._in_order(org_id, position):
            return
        before = self.links.get(org_id)
        link = _Link(position, digest)
        if prev_hash != (before.digest if before else NO_HASH):
            self._mismatch(org_id, before, link)
        elif before and before.doubted is not None:
            self._edited(org_id, before.doubted, f"not what the event at {before.position} vouches for")
        self._against_head(org_id, link)
        self.links[org_id] = link

    def end(self) -> None:
        """Say what only the end of the log shows."""
        for position in sorted(self.absent):
            if position in self.in_place_of:
                self._no_event_any_more(position)
            else:
                self._fault("", position, "event", "one", "none: it was dropped")
        for org_id, link in self.links.items():
            if link.doubted is not None:
                self._edited(org_id, link.doubted, f"not what the event at {link.position} vouches for")
        for org_id, head in self.heads.items():
            found = self.newest.get(org_id, 0)
            if found < head.position and head.position in self.in_place_of:
                self._no_event_any_more(head.position)
            elif found < head.position:
                held = f"the log ends at {found} for this org" if found else "no event of this org"
                self._fault(org_id, head.position, "last event", f"the signed one, {head.hash[:16]}...", held)

    def _in_order(self, org_id: str, position: int) -> bool:
        """Whether an event stands where its position says; what follows it says nothing about one that does not."""
        if position > self.last:
            if position - self.last > GAP_LISTED:
                self._fault("", self.last + 1, "events", "one after the other", f"none up to {position}")
            else:
                self.absent.update(range(self.last + 1, position))
            self.last = position
            return True
        if position in self.absent:
            self.absent.discard(position)
            self.displaced.add(position)
            self._fault(org_id, position, "order", f"before {self.last}", f"after {self.last}: events were reordered")
        else:
            self._fault(org_id, position, "event", "one", "another with the same position")
        return False

    def _mismatch(self, org_id: str, before: _Link | None, link: _Link) -> None:
        """Two events do not fit: the earlier was edited, or something between them is gone, or the later was edited."""
        start = before.position if before else 0
        if any(start < position < link.position for position in self.absent | self.displaced):
            return  # what is gone or elsewhere explains it
        if before is None:
            self._edited(org_id, link.position, "it names an event before it that is not there")
        elif before.doubted is not None:
            self._edited(org_id, before.position, "it fits neither the event before it nor the one after")
        else:
            link.doubted = before.position

    def _against_head(self, org_id: str, link: _Link) -> None:
        head = self.heads.get(org_id)
        if head is None or head.position != link.position:
            return
        if head.hash != link.digest.hex():
            link.doubted = None
            self._edited(org_id, link.position, "not what its signed head vouches for")

    def _no_event_any_more(self, position: int) -> None:
        self._edited(self.in_place_of[position], position, "bytes that are no event")

    def _edited(self, org_id: str, position: int, found: str) -> None:
        self._fault(org_id, position, "bytes", "as they were recorded", found)

    def _fault(self, org_id: str, position: int, name: str, expected: str, found: str) -> None:
        place = f"partition {self.partition} position {position}"
        self.faults.setdefault((org_id, position, name), Fault(PLACE, org_id, place, name, expected, found))


@dataclass(frozen=True, slots=True)
class Checked:
    """What was done to a partition's log, and how many records in it are no event, damaged ones too."""

    faults: list[Fault]
    strangers: int


def check_chain(
    records: Iterable[Record], decoder: Decoder, partition: int, heads: Mapping[str, SignedHead]
) -> Checked:
    """Check a partition's log; `records` are all its records but fences, `heads` its signed heads by org."""
    chain = _Chain(partition, heads)
    for record in records:
        try:
            claim = claim_of(record, decoder.whole)
        except Stranger:
            chain.leave_out(record)
            continue
        if claim.recorded is None:
            place = f"partition {partition} position {claim.position}"
            return Checked([Fault(PLACE, record.key, place, "type", "a known one", "a newer")], chain.strangers)
        chain.take(record, claim.recorded.header.prev_hash, claim.position)
    chain.end()
    return Checked([*chain.faults.values()], chain.strangers)
