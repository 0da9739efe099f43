"""Code that blocks, as threads run it, in greenlets: a blocking call lets the others go on in simulated time."""

import asyncio
import contextlib
import contextvars
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from greenlet import GreenletExit, getcurrent, greenlet

from tests.simulation.life import Crashed, current

T = TypeVar("T")
STEP_SECONDS = 0.05  # between two looks at a condition that nobody signals
FOR_GOOD_SECONDS = 1e9  # of the clock of the simulation: as long as nobody says how long


def started(loop: asyncio.AbstractEventLoop, work: Callable[[], T]) -> asyncio.Future[T]:
    """Run work in a fiber of the current process; the future gets what came of it."""
    over: asyncio.Future[T] = loop.create_future()
    life = current()

    def run() -> None:
        try:
            result = work()
        except (Crashed, GreenletExit):
            return
        except BaseException as error:
            if life.alive and not over.done():
                over.set_exception(error)
            return
        if not over.done():
            over.set_result(result)

    fiber = greenlet(run)
    fiber.gr_context = contextvars.copy_context()
    life.kept.append(fiber)
    loop.call_soon(_enter, fiber)
    return over


def blocking() -> bool:
    """Whether the running code may block: it is in a fiber, not in a callback of the loop."""
    return getcurrent().parent is not None


def sleep(seconds: float) -> None:
    """Let simulated time pass for the calling fiber; in a callback of the loop no time passes."""
    if blocking():
        loop = asyncio.get_running_loop()
        loop.call_later(max(0.0, seconds), _enter, getcurrent())
        _leave()
    current().check()


class Signal:
    """Something that fibers and tasks wait for."""

    def __init__(self) -> None:
        self._waiting: dict[Callable[[], None], None] = {}  # in the order in which they came

    def set(self) -> None:
        """Wake all who wait."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, {}
        for wake in waiting:
            wake()

    def then(self, work: Callable[[], None]) -> None:
        """Do something when this signal is set the next time."""
        self._waiting[work] = None

    def tell(self, other: "Signal") -> None:
        """Set another signal when this one is set; told once, however often it is asked for."""
        self._waiting[other.set] = None

    def wait(self, seconds: float) -> None:
        """Block the calling fiber until the signal is set, or for at most so long."""
        if not blocking():
            return
        sleeper = _Sleeper(asyncio.get_running_loop(), seconds)
        self._waiting[sleeper.wake] = None
        _leave()
        self._waiting.pop(sleeper.wake, None)
        current().check()

    def wait_idly(self, seconds: float) -> None:
        """The same for whoever only waits to be told to stop: also an event that its process sets wakes it."""
        current().idle[self.set] = None
        self.wait(seconds)

    async def heard(self, seconds: float) -> None:
        """Wait in a task until the signal is set, or for at most so long."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def wake() -> None:
            if not future.done():
                future.set_result(None)

        timer = loop.call_later(seconds, wake)
        self._waiting[wake] = None
        try:
            await future
        finally:
            timer.cancel()
            self._waiting.pop(wake, None)
        current().check()


class _Sleeper:
    """A fiber that waits until it is woken, or for at most so long."""

    __slots__ = ("_context", "_fiber", "_loop", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop, self._fiber, self._context = loop, getcurrent(), contextvars.copy_context()
        self._timer = loop.call_later(max(0.0, seconds), self._over, context=self._context)

    def wake(self) -> None:
        """Let it go on when its process has its turn."""
        fiber, self._fiber = self._fiber, None
        if fiber is not None:
            self._timer.cancel()
            self._loop.call_soon(_enter, fiber, context=self._context)

    def _over(self) -> None:
        fiber, self._fiber = self._fiber, None
        if fiber is not None:
            _enter(fiber)


def result_of(future: "asyncio.Future[T]", seconds: float | None) -> T:
    """Block the calling fiber until a future is done and return its result."""
    signal = Signal()
    future.add_done_callback(lambda _: signal.set())
    if not future.done():
        signal.wait(1e9 if seconds is None else seconds)
    if not future.done():
        raise TimeoutError
    return future.result()


def _enter(fiber: Any) -> None:
    if not fiber.dead:
        fiber.parent = getcurrent()
        fiber.switch()


def _leave() -> None:
    getcurrent().parent.switch()


class Thread:
    """A `threading.Thread` of the simulation."""

    def __init__(self, *, target: Callable[..., None], args: Iterable[Any] = (), name: str = "", daemon: bool = True):
        del name, daemon
        self._work = lambda: target(*args)
        self._over: asyncio.Future[None] | None = None
        self.ident: int | None = None

    def start(self) -> None:
        """Start it."""
        self.ident = 1
        self._over = started(asyncio.get_running_loop(), self._work)

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end."""
        if blocking() and self._over:
            with contextlib.suppress(TimeoutError):
                result_of(self._over, timeout)


class Event:
    """A `threading.Event` of the simulation."""

    def __init__(self) -> None:
        self._signal, self._set = Signal(), False

    def is_set(self) -> bool:
        """Whether it is set."""
        return self._set

    def set(self) -> None:
        """Set it."""
        self._set = True
        self._signal.set()
        life = current()
        idle, life.idle = life.idle, {}
        for wake in idle:
            wake()

    def wait(self, timeout: float = 1e9) -> bool:
        """Wait until it is set, or for at most so long."""
        if not self._set:
            self._signal.wait(timeout)
        return self._set


class Condition:
    """A `threading.Condition` of the simulation."""

    def __init__(self) -> None:
        self._signal = Signal()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def notify_all(self) -> None:
        """Wake all who wait."""
        self._signal.set()

    def wait(self, timeout: float) -> None:
        """Wait until notified, or for at most so long."""
        self._signal.wait(timeout)

    def wait_for(self, true: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait until something is true, or for at most so long."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + (FOR_GOOD_SECONDS if timeout is None else timeout)
        while not true() and blocking() and loop.time() < deadline:
            self._signal.wait(deadline - loop.time())
        return true()


class Lock:
    """A `threading.Lock` of the simulation: nothing runs beside its holder."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class Pool:
    """A `ThreadPoolExecutor` of the simulation: one after the other."""

    def __init__(self, _workers: int) -> None:
        pass

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def map(self, work: Callable[[Any], T], each: Iterable[Any]) -> Iterator[T]:
        """Do the work for each."""
        return iter([work(one) for one in each])


class Asked:
    """What `asyncio.run_coroutine_threadsafe` returns."""

    def __init__(self, future: "asyncio.Future[Any]") -> None:
        self._future = future
        future.add_done_callback(lambda over: over.cancelled() or over.exception())  # as asyncio does: it is passed on

    def result(self, timeout: float | None = None) -> Any:
        """Block until there is one."""
        return result_of(self._future, timeout)


def run_coroutine_threadsafe(coroutine: Any, loop: asyncio.AbstractEventLoop) -> Asked:
    """Run a coroutine on the loop on behalf of a fiber."""
    return Asked(loop.create_task(coroutine))
