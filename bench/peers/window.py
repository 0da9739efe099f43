"""A closed loop: so many jobs are in flight at any time, and the finished ones are counted between two marks.

It runs in the virtual environments of the peers too, so it imports nothing but the standard library.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable

BEGIN, END = "begin", "end"  # marks: whoever looks at CPU time looks at them
FIRST_SECONDS = 60.0  # until the first job is done

Mark = Callable[[str, dict[str, float]], None]


class NothingDone(Exception):
    """No job was done in time: the system does not work as it was started."""


async def closed_loop(
    submit: Callable[[], Awaitable[None]],
    done: Callable[[], Awaitable[int]],
    mark: Mark,
    *,
    in_flight: int,
    warm_up: float,
    seconds: float,
    pause: float,
) -> None:
    """Submit a job for each that is done; mark the begin after the warm-up, and the end with jobs and seconds.

    `done` says how many are done in all; it is asked every `pause` seconds while there is no room for another job. The
    warm-up begins with the first job that is done.
    """
    submitted, before = 0, 0
    began, first_at, marked_at = time.monotonic(), 0.0, 0.0
    while True:
        finished, now = await done(), time.monotonic()
        if finished and not first_at:
            first_at = now
        if not first_at and now > began + FIRST_SECONDS:
            raise NothingDone(f"no job was done within {FIRST_SECONDS:g} s")
        if marked_at and now >= marked_at + seconds:
            mark(END, {"jobs": finished - before, "seconds": now - marked_at})
            return
        if first_at and not marked_at and now >= first_at + warm_up:
            before, marked_at = finished, now
            mark(BEGIN, {})
        room = in_flight - (submitted - finished)
        if room > 0:
            submitted += room
            await asyncio.gather(*(submit() for _ in range(room)))
        else:
            await asyncio.sleep(pause)


def print_mark(word: str, figures: dict[str, float]) -> None:
    """Print a mark as the lines of a driver are read."""
    sys.stdout.write(json.dumps({"mark": word, **figures}) + "\n")
    sys.stdout.flush()


class Calls:
    """Jobs that are done once a call of theirs is answered; one that fails is told on stderr, and stays in flight."""

    def __init__(self, call: Callable[[], Awaitable[None]]) -> None:
        self._call = call
        self._answered = 0
        self._running = set[asyncio.Task[None]]()

    async def submit(self) -> None:
        """Begin a call, and do not wait for it."""
        task = asyncio.create_task(self._counted())
        self._running.add(task)
        task.add_done_callback(self._ended)

    async def done(self) -> int:
        """Return how many were answered."""
        return self._answered

    async def rest(self) -> None:
        """Wait for those that are under way."""
        await asyncio.gather(*self._running)

    async def _counted(self) -> None:
        await self._call()
        self._answered += 1

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.result()
