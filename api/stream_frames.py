"""What all streams of a job share: the newest frames of a feed, and who waits for more of them."""

import asyncio
from collections import deque
from typing import Literal, NamedTuple

Closed = Literal["", "deleted", "fault"]


class Unknown(Exception):
    """The org has no such job."""


class Frame(NamedTuple):
    """Something that is sent, and its place among the frames of its feed: a position of the log, or an ordinal."""

    position: int
    data: bytes


class Frames:
    """Keeps the newest frames of a job while anybody watches it. A feed adds them, in the order of their places."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._frames: deque[Frame] = deque()
        self._floor = 0  # place of the last frame that is kept no more
        self._moved = asyncio.Event()
        self._begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ended = False  # the last frame is the end of the job
        self.closed: Closed = ""  # why nothing more comes though the job has not ended

    @property
    def position(self) -> int:
        """Return the place of the newest frame."""
        return self._frames[-1].position if self._frames else self._floor

    async def begun(self) -> None:
        """Wait until the past is there; raise what kept it away."""
        await asyncio.shield(self._begun)

    def after(self, position: int) -> list[Frame] | None:
        """Return the frames behind a place; None: some of them are kept no more."""
        if position < self._floor:
            return None
        later: list[Frame] = []
        for frame in reversed(self._frames):
            if frame.position <= position:
                break
            later.append(frame)
        return later[::-1]

    async def moved(self, timeout_seconds: float) -> bool:
        """Wait for anything new, at most so long; tell whether it came."""
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._moved.wait()
        except TimeoutError:
            return False
        return True

    def wake(self) -> None:
        """Let everybody who waits look again."""
        self._moved.set()
        self._moved = asyncio.Event()

    def _keep(self, frame: Frame) -> None:
        if len(self._frames) == self._kept:
            self._floor = self._frames.popleft().position
        self._frames.append(frame)

    def _broke(self, error: Exception) -> bool:
        """Tell whoever waits for the beginning why there is none; false: it had begun, and ends here."""
        if self._begun.done():
            self._close("fault")
            return False
        self._begun.set_exception(error)
        self._begun.exception()  # where nobody waits for it any more
        return True

    def _close(self, reason: Closed) -> None:
        self.closed = reason
        self.wake()
