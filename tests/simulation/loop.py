"""An event loop whose clock jumps to the next timer and whose order is a function of its seed.

Each process keeps the order of its own callbacks, as asyncio promises; which process comes next is drawn. A callback
knows its process by its context, so that a killed process is one whose callbacks are not called any more.
"""

import asyncio
import heapq
import itertools
from asyncio import Handle, TimerHandle
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import Context, copy_context
from random import Random
from typing import Any

from tests.simulation import fibers
from tests.simulation.life import CURRENT, WORLD, Life
from tests.simulation.unheard import Future, Unheard, heard


class Stuck(Exception):
    """Nothing can happen any more, or too much happens."""


class _Task(asyncio.Task[Any]):
    """A task whose place in a set does not depend on its address."""

    _numbers = itertools.count()

    def __init__(self, coroutine: Any, **named: Any) -> None:
        self._number = next(self._numbers)
        super().__init__(coroutine, **named)
        self._log_destroy_pending = False
        self.life = named.get("context", copy_context()).get(CURRENT) or WORLD
        (CURRENT.get() or WORLD).kept.append(self)

    def __hash__(self) -> int:
        return self._number


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs until the given number of steps."""

    def __init__(self, random: Random, most_steps: int) -> None:
        super().__init__()
        self.now = 0.0
        self.steps = 0
        self.fate: Callable[[Life], bool] = lambda _life: False  # asked before each step: does it die here?
        self._random = random
        self._most_steps = most_steps
        self._queues: dict[Life, deque[Handle]] = {}
        self._timers: list[tuple[float, int, TimerHandle]] = []
        self._numbers = itertools.count()
        _Task._numbers = itertools.count()
        self.unheard = Unheard()
        self.set_exception_handler(self.unheard)
        self.set_task_factory(lambda loop, coroutine, **named: _Task(coroutine, loop=loop, **named))

    def time(self) -> float:
        """Return the simulated time in seconds."""
        return self.now

    def create_future(self) -> Future:
        """Make a future of the current process."""
        return Future(self)

    def kill(self, life: Life) -> None:
        """End a process where it stands."""
        life.alive = False
        self._keep(life, self._queues.pop(life, ()))

    def bury(self) -> None:
        """Stop for good: whatever is due does not happen any more."""
        for life, queue in self._queues.items():
            self._keep(life, queue)
        self._queues.clear()
        self.close()

    @staticmethod
    def _keep(life: Life, handles: Iterable[Handle]) -> None:
        """Let nothing of a dead process be freed, and nobody hear of it."""
        for handle in handles:
            life.kept.append(handle)
            heard([handle])

    def run_in_executor(self, _executor: Any, work: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Run work in a fiber instead of a thread."""
        return fibers.started(self, lambda: work(*arguments))

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> TimerHandle:  # type: ignore[override]
        """Call back at a time; of the same time, in the order of asking."""
        handle = TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._timers, (when, next(self._numbers), handle))
        return handle

    def _call_soon(self, callback: Any, args: Any, context: Context | None) -> Handle:
        handle = Handle(callback, args, self, context)
        self._enqueue(handle)
        return handle

    def _enqueue(self, handle: Handle) -> None:
        life = handle._context.get(CURRENT) or WORLD  # type: ignore[attr-defined]
        if not life.alive:
            self._keep(life, [handle])
            return
        queue = self._queues.get(life)
        if queue is None:
            queue = self._queues[life] = deque()
        queue.append(handle)

    def _write_to_self(self) -> None:
        """Nobody sleeps who would have to be woken."""

    def _run_once(self) -> None:
        life = self._next()
        handle = self._queues[life].popleft()
        if handle._cancelled:
            return
        self.steps += 1
        if self.steps > self._most_steps:
            raise Stuck(f"{self._most_steps} steps and no end, at {self.now:.3f} s")
        if self.fate(life):
            self._keep(life, [handle])
            return
        handle._run()

    def _next(self) -> Life:
        """Return whose turn it is, letting time jump where nobody can go on."""
        while True:
            if self._timers and self._timers[0][0] <= self.now:
                self._wake()
            now = self.now
            able = [life for life, queue in self._queues.items() if queue and life.paused_until <= now]
            if len(able) == 1:
                return able[0]
            if able:
                return able[int(self._random.random() * len(able))]
            self._jump()

    def _wake(self) -> None:
        timers = self._timers
        while timers and timers[0][0] <= self.now:
            _, _, handle = heapq.heappop(timers)
            if not handle._cancelled:
                self._enqueue(handle)

    def _jump(self) -> None:
        while self._timers and self._timers[0][2]._cancelled:
            heapq.heappop(self._timers)
        times = [life.paused_until for life, queue in self._queues.items() if queue]
        if self._timers:
            times.append(self._timers[0][0])
        if not times:
            raise Stuck(f"nobody waits for anything, at {self.now:.3f} s")
        self.now = max(self.now, min(times))
