"""Slots of a worker: how many tasks it runs at once, and waiting for a free one."""

import asyncio


class Slots:
    """A bounded number of slots; after `close` nobody gets one any more."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.free = total
        self._closed = False
        self._changed = asyncio.Event()

    async def take(self) -> None:
        """Return holding a slot; wait as long as none is free, for ever once closed."""
        while self._closed or not self.free:
            self._changed.clear()
            await self._changed.wait()
        self.free -= 1

    def give(self) -> None:
        """Give a slot back."""
        self.free += 1
        self._changed.set()

    def close(self) -> None:
        """Hand out no more slots."""
        self._closed = True
