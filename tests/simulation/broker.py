"""Kafka in memory, as far as the ledger rests on it: partitions, transactions with fencing, and their visibility.

A record of a transaction hides what comes after it from committed reads until the marker of the transaction is
written, which is some time after the commit returned. A new start under a transactional id fences the old one off.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from tests.simulation.chaos import Chaos
from tests.simulation.fibers import Signal
from tests.simulation.life import of_the_world

TransactionState = Literal["open", "committed", "aborted"]


class FencedOff(Exception):
    """The producer's epoch is old."""


@dataclass(eq=False, slots=True)
class Transaction:
    """Records of several partitions that become readable together, or never."""

    state: TransactionState = "open"
    decided_at: float = 0.0  # seconds: when it was committed or aborted
    places: dict["Partition", int] = field(default_factory=dict)  # offset of its first record


@dataclass(slots=True)
class Entry:
    """What stands at one offset."""

    key: bytes
    value: bytes
    headers: list[tuple[str, bytes]]
    timestamp_ms: int
    transaction: Transaction | None = None
    marker: bool = False
    null: bool = False  # it has no value, which is not an empty one

    @property
    def readable(self) -> bool:
        """Whether a committed read returns it, once nothing before it is open."""
        return not self.marker and (self.transaction is None or self.transaction.state == "committed")


@dataclass(eq=False, slots=True)
class Partition:
    """A log."""

    topic: str
    number: int
    entries: list[Entry] = field(default_factory=list)
    open: dict[Transaction, int] = field(default_factory=dict)
    written: Signal = field(default_factory=Signal)  # there is a new entry
    changed: Signal = field(default_factory=Signal)  # more of it is decided

    _told: int = 0  # the stable end, when its change was last told

    @property
    def end(self) -> int:
        """The offset of the next record."""
        return len(self.entries)

    @property
    def stable_end(self) -> int:
        """The offset before which everything is decided."""
        return min(self.open.values()) if self.open else len(self.entries)

    def append(self, entry: Entry) -> int:
        """Put an entry at the end and return its offset."""
        self.entries.append(entry)
        if entry.transaction and entry.transaction.state == "open" and not entry.marker:
            self.open.setdefault(entry.transaction, self.end - 1)
        self.written.set()
        stable_end = self.stable_end
        if stable_end != self._told:
            self._told = stable_end
            self.changed.set()
        return self.end - 1

    def close(self, transaction: Transaction) -> None:
        """Write the marker of a transaction."""
        if self.open.pop(transaction, None) is not None:
            self.append(Entry(b"", b"", [], 0, transaction, marker=True))

    def readable(self) -> list[tuple[int, Entry]]:
        """Return all that a committed read returns now."""
        return [(at, entry) for at, entry in enumerate(self.entries[: self.stable_end]) if entry.readable]


@dataclass(slots=True)
class _Identity:
    """A transactional id."""

    epoch: int = 0
    patience_seconds: float = 0.0  # after which the coordinator aborts a transaction
    transaction: Transaction | None = None
    finishing: list[Transaction] = field(default_factory=list)


class Broker:
    """All partitions and the coordinator of transactions."""

    def __init__(self, loop: asyncio.AbstractEventLoop, chaos: Chaos, now_ms: "Clock") -> None:
        self.chaos, self.now_ms = chaos, now_ms
        self.up_again_at = 0.0
        self.outages: list[tuple[float, float]] = []  # from when to when, in seconds
        self._loop = loop
        self._topics: dict[str, dict[int, Partition]] = {}
        self._identities: defaultdict[str, _Identity] = defaultdict(_Identity)

    @property
    def down(self) -> bool:
        """Whether nobody reaches it now."""
        return self._loop.time() < self.up_again_at

    def leave(self, seconds: float) -> None:
        """Be away for a while."""
        now = self._loop.time()
        self.up_again_at = now + seconds
        self.outages.append((now, self.up_again_at))

    def create(self, topic: str, partitions: int) -> None:
        """Make a topic."""
        self._topics[topic] = {number: Partition(topic, number) for number in range(partitions)}

    def partitions(self, topic: str) -> dict[int, Partition]:
        """Return the partitions of a topic; none of one that is not there."""
        return self._topics.get(topic, {})

    def partition(self, topic: str, number: int) -> Partition:
        """Return one partition."""
        return self._topics[topic][number]

    def everything(self) -> list[Partition]:
        """Return every partition there is."""
        return [partition for topic in self._topics.values() for partition in topic.values()]

    def entry(self, key: bytes, value: bytes | None, headers: list[tuple[str, bytes]]) -> Entry:
        """Make an entry of now."""
        return Entry(key, value or b"", headers, self.now_ms(), null=value is None)

    # ---- transactions ----

    def initialise(self, name: str, patience_seconds: float) -> int:
        """Fence off whoever writes under this id, end what it left open, and return the new epoch."""
        identity = self._identities[name]
        identity.patience_seconds = patience_seconds
        identity.epoch += 1
        self._abort(identity)
        for transaction in identity.finishing:
            self._mark(transaction)
        identity.finishing.clear()
        return identity.epoch

    def write(self, name: str, epoch: int, topic: str, number: int, entry: Entry) -> int:
        """Append a record to the transaction of an id, beginning it where it is the first."""
        identity = self._current(name, epoch)
        if identity.transaction is None:
            transaction = identity.transaction = Transaction()
            self._later(identity.patience_seconds, lambda: self._expire(identity, transaction))
        entry.transaction = identity.transaction
        partition = self.partition(topic, number)
        offset = partition.append(entry)
        identity.transaction.places.setdefault(partition, offset)
        return offset

    def commit(self, name: str, epoch: int) -> None:
        """Decide that a transaction is to be read; its markers follow a little later, each partition by itself."""
        identity = self._current(name, epoch)
        transaction, identity.transaction = identity.transaction, None
        if transaction is None:
            return
        transaction.state, transaction.decided_at = "committed", self._loop.time()
        identity.finishing.append(transaction)
        for partition in transaction.places:
            late = self.chaos.random.uniform(0.3, 2.0) if self.chaos.strikes("slow_marker") else 0.003
            self._later(self.chaos.random.uniform(0.0, late), partial(partition.close, transaction))

    def abort(self, name: str, epoch: int) -> None:
        """Decide that a transaction is never to be read."""
        self._abort(self._current(name, epoch))

    def finishing(self, name: str) -> bool:
        """Whether markers of the id's last transaction are still to be written: the next one has to wait."""
        identity = self._identities[name]
        identity.finishing = [each for each in identity.finishing if any(each in p.open for p in each.places)]
        return bool(identity.finishing)

    def _later(self, seconds: float, work: Callable[[], None]) -> None:
        self._loop.call_later(seconds, work, context=of_the_world())

    def _current(self, name: str, epoch: int) -> _Identity:
        identity = self._identities[name]
        if identity.epoch != epoch:
            raise FencedOff(name)
        return identity

    def _expire(self, identity: _Identity, transaction: Transaction) -> None:
        if identity.transaction is transaction:
            identity.epoch += 1
            self._abort(identity)

    def _abort(self, identity: _Identity) -> None:
        transaction, identity.transaction = identity.transaction, None
        if transaction is not None:
            transaction.state = "aborted"
            self._mark(transaction)

    def _mark(self, transaction: Transaction) -> None:
        for partition in transaction.places:
            partition.close(transaction)


class Clock:
    """Milliseconds UTC as the broker stamps them."""

    def __init__(self, loop: asyncio.AbstractEventLoop, start_micros: int) -> None:
        self._loop, self._start = loop, start_micros

    def __call__(self) -> int:
        """Return now."""
        return self._start // 1000 + int(self._loop.time() * 1000)
