"""Collects the outcomes of planned items into chunks: in their order, each planned item with exactly one."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from schemas.storable import counted, storable_text
from services.ledger.items import Items
from services.ledger.reports import Chunk
from services.runtime.item_chunks import Packed, packed
from services.workers.modules.protocol import Item, Outcome
from services.workers.modules.stats import Kept, Stats, encoded, without_errored

CHUNK_ITEMS = 1_000
CHUNK_BYTES = 1024 * 1024  # of results, as JSON
MESSAGE_CHARS = 300
NOT_STARTED = "not_started"
_encode = msgspec.json.Encoder().encode


class BadOutcome(ValueError):
    """A module said something of an item that is not planned or has its outcome already, or two things of one."""


@dataclass(frozen=True, slots=True)
class Full:
    """A chunk to be stored, and what is reported of it but for its key."""

    packed: Packed
    told: Chunk

    def report(self, key: str) -> Chunk:
        """Return the report of this chunk, stored under a key."""
        return replace(self.told, items_ref=key)


class Recorder:
    """The chunk at hand. `items` are those that are planned, from the first that has no outcome on."""

    def __init__(self, come: Items, items: Sequence[Item], kept: Kept) -> None:
        self._items = items
        self._base = come.next_item
        self._next = come.next_item
        self._number = come.chunks
        self._stats = kept.now
        self._resumable = kept.resumable
        self._errored: list[Item] = []  # since the last item that succeeded, as long as `_resumable` is not told
        self._begin()

    def _begin(self) -> None:
        self._first = self._next
        self._rows: list[bytes] = []
        self._outcomes: list[bytes] = []
        self._bytes = self._errors = self._resume_item = self._errors_before = 0

    @property
    def empty(self) -> bool:
        """Whether nothing came since the last chunk."""
        return not self._outcomes

    @property
    def full(self) -> bool:
        """Whether it is time for a chunk."""
        return len(self._outcomes) >= CHUNK_ITEMS or self._bytes >= CHUNK_BYTES

    @property
    def left(self) -> int:
        """How many planned items have no outcome."""
        return self._base + len(self._items) - self._next

    def add(self, outcome: Outcome) -> None:
        """Take an outcome; items that it passes over were never started. Raises BadOutcome.

        Whoever goes on from here does an item again that errored: results of it would be there twice.
        """
        if outcome.error and outcome.rows:
            raise BadOutcome(f"item {outcome.number} has results and the error {outcome.error!r}: give one of them")
        if not self._next <= outcome.number < self._base + len(self._items):
            raise BadOutcome(f"item {outcome.number} is not planned, or has its outcome: {self._next} comes next")
        while self._next < outcome.number:
            self.pass_over()
        values = [counted(dict(row))[0] for row in outcome.rows]
        for value in values:
            self._stats.saw(value)
        rows = list(map(_encode, values))
        self._note(len(rows), outcome.error, outcome.message)
        self._rows += rows
        self._bytes += sum(map(len, rows))

    def pass_over(self) -> None:
        """Note that the next item was never started."""
        self._note(0, NOT_STARTED, "")

    def _note(self, rows: int, error: str, message: str) -> None:
        item = self._items[self._next - self._base]
        said = {"item": item.number, "outcome": "failed" if error else "succeeded", "rows": rows}
        if error:
            said |= {"error": error, "message": storable_text(message)[:MESSAGE_CHARS]}
            if self._resumable is None:
                self._errored.append(item)
        named = {name: item.value[name] for name in ("query", "zone", "url") if name in item.value}
        self._outcomes.append(_encode(said | named))
        self._stats.add(item.value, rows, failed=bool(error))
        self._next += 1
        if error:
            self._errors += 1
        else:
            self._resume_item, self._errors_before, self._resumable = self._next, self._errors, None
            self._errored.clear()

    def take(self) -> Full:
        """Return the chunk at hand, and begin the next one."""
        if self._errored:  # once for a chunk: counts of many queries are large
            self._resumable = without_errored(self._stats, [item.value for item in self._errored])
            self._errored.clear()
        parts = packed(self._rows, self._outcomes, encoded(Kept(self._stats, self._resumable)))
        told = Chunk(
            chunk=self._number,
            items_ref="",
            rows_bytes=parts.rows_bytes,
            outcomes_bytes=parts.outcomes_bytes,
            stats_bytes=parts.stats_bytes,
            digest=parts.digest,
            first_item=self._first,
            next_item=self._next,
            rows=len(self._rows),
            errors=self._errors,
            resume_item=self._resume_item,
            errors_before=self._errors_before,
        )
        self._number += 1
        self._begin()
        return Full(parts, told)


def beginning(kept: Kept, *, goes_on_from_another: bool) -> Kept:
    """Return the counts to begin with: whoever goes on from another job redoes what errored at its end."""
    stats: Stats = kept.resumable if goes_on_from_another and kept.resumable is not None else kept.now
    return Kept(stats) if goes_on_from_another else kept
