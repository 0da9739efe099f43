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
        context = named.get("context")
        self.life = (CURRENT.get() if context is None else context.get(CURRENT)) or WORLD
        (CURRENT.get() or WORLD).kept.append(self)

    def __hash__(self) -> int:
        return self._number


def _nothing() -> None:
    pass


class _Due(TimerHandle):
    """A callback that is due now or later; it knows whose it is, and nothing that only a debugger asks for."""

    __slots__ = ("life",)

    def __init__(self, when: float, callback: Any, args: Any, loop: asyncio.AbstractEventLoop, context: Context | None):
        self._when, self._callback, self._args, self._loop = when, callback, args, loop
        self._context = copy_context() if context is None else context
        self._cancelled = False
        self._source_traceback = None
        self.life: Life = self._context.get(CURRENT) or WORLD  # type: ignore[arg-type]

    def cancel(self) -> None:
        """Let it not happen."""
        self._cancelled = True
        self._callback, self._args = _nothing, ()


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs until the given number of steps."""

    def __init__(self, random: Random, most_steps: int) -> None:
        super().__init__()
        self.now = 0.0
        self.steps = 0
        self.fate: Callable[[Life], bool] = lambda _life: False  # asked before each step: does it die here?
        self._random = random
        self._most_steps = most_steps
        self._queues: dict[Life, deque[_Due]] = {}  # none is empty
        self._timers: list[tuple[float, int, _Due]] = []
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
        handle = _Due(when, callback, args, self, context)
        heapq.heappush(self._timers, (when, next(self._numbers), handle))
        return handle

    def call_later(self, delay: float, callback: Any, *args: Any, context: Context | None = None) -> TimerHandle:  # type: ignore[override]
        """Call back after some seconds."""
        return self.call_at(self.now + delay, callback, *args, context=context)

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> Handle:  # type: ignore[override]
        """Call back when it is this process's turn."""
        self._check_closed()  # type: ignore[attr-defined]
        handle = _Due(self.now, callback, args, self, context)
        self._enqueue(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def _enqueue(self, handle: _Due) -> None:
        life = handle.life
        if not life.alive:
            self._keep(life, [handle])
            return
        queue = self._queues.get(life)
        if queue is None:
            queue = self._queues[life] = deque()
        queue.append(handle)

    def _run_once(self) -> None:
        while not self._stopping:  # type: ignore[attr-defined]
            life = self._next()
            queue = self._queues[life]
            handle = queue.popleft()
            if not queue:
                del self._queues[life]
            if not handle._cancelled:
                self._step(life, handle)

    def _step(self, life: Life, handle: _Due) -> None:
        self.steps += 1
        if self.steps > self._most_steps:
            raise Stuck(f"{self._most_steps} steps and no end, at {self.now:.3f} s")
        if self.fate(life):
            self._keep(life, [handle])
        else:
            handle._run()

    def _next(self) -> Life:
        """Return whose turn it is, letting time jump where nobody can go on."""
        while True:
            if self._timers and self._timers[0][0] <= self.now:
                self._wake()
            now = self.now
            able = [life for life in self._queues if life.paused_until <= now]
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
        times = [life.paused_until for life in self._queues]
        if self._timers:
            times.append(self._timers[0][0])
        if not times:
            raise Stuck(f"nobody waits for anything, at {self.now:.3f} s")
        self.now = max(self.now, min(times))
