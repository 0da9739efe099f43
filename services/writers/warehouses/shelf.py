"""Tables that are open: a bounded number of them, each closed when nobody has used it for a while."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from services.runtime.networks import Networks
from services.runtime.sealing import Sealer
from services.runtime.time import monotonic
from services.writers.warehouses.kinds import Kind
from services.writers.warehouses.secret import opening_of
from services.writers.warehouses.stored import Name, StoredDestination
from services.writers.warehouses.table import Table

MOST_OPEN = 200
IDLE_SECONDS = 300.0
CLOSE_SECONDS = 5.0  # that a table has to close


@dataclass(slots=True)
class _Held:
    version: int
    table: Table
    used_at: float
    busy: bool = False


class Shelf:
    """Opens tables of one kind; each is used by one caller at a time."""

    def __init__(
        self,
        kind: Kind,
        sealer: Sealer | None,
        *,
        allowed: Networks,
        most_open: int = MOST_OPEN,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._kind = kind
        self._sealer = sealer
        self._allowed = allowed
        self._most_open = most_open
        self._clock = clock
        self._held: OrderedDict[Name, _Held] = OrderedDict()

    def __len__(self) -> int:
        return len(self._held)

    async def take(self, name: Name, stored: StoredDestination) -> Table:
        """Return the table of a destination as it is set up now; raise SettingsFault, Unsealable or DriverMissing."""
        held = self._held.get(name)
        if held and held.version != stored.version:
            await self.drop(name)
            held = None
        if held is None:
            await self._make_room()
            held = self._held[name] = _Held(stored.version, self._open(name, stored), 0.0)
        held.busy = True
        self._held.move_to_end(name)
        return held.table

    def give_back(self, name: Name) -> None:
        """Say that a table is not in use."""
        if held := self._held.get(name):
            held.busy, held.used_at = False, self._clock()

    async def drop(self, name: Name) -> None:
        """Close a table; it is opened anew the next time."""
        if held := self._held.pop(name, None):
            await _closed(held.table)

    async def close_idle(self) -> None:
        """Close what nobody has used for a while."""
        until = self._clock() - IDLE_SECONDS
        for name in [name for name, held in self._held.items() if not held.busy and held.used_at < until]:
            await self.drop(name)

    async def close(self) -> None:
        """Close all."""
        for name in list(self._held):
            await self.drop(name)

    async def _make_room(self) -> None:
        idle = [name for name, held in self._held.items() if not held.busy]  # the one unused for longest first
        for name in idle[: max(0, len(self._held) - self._most_open + 1)]:
            await self.drop(name)

    def _open(self, name: Name, stored: StoredDestination) -> Table:
        opening = opening_of(self._kind, self._sealer, name, stored.settings, stored.sealed, allowed=self._allowed)
        return Table(self._kind, self._kind.open(opening), opening.settings.place)


async def _closed(table: Table) -> None:
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await table.close()
    except Exception:  # noqa: S110  # it was to be let go of anyway
        pass
