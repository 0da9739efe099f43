"""One run of a simulated process: what it has started, whether it lives, and how its clock goes."""

from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from typing import Any, TypeVar

T = TypeVar("T")


class Crashed(BaseException):
    """Raised into code of a process that is dead: nothing that it still does has any effect."""


class Life:
    """A run of a process, from its start until it is killed or leaves; then it never runs again, not even `finally`."""

    def __init__(self, name: str, number: int, skew_micros: int = 0) -> None:
        self.name, self.number, self.skew_micros = name, number, skew_micros
        self.alive = True
        self.killed = False  # it did not leave by itself
        self.paused_until = 0.0
        self.disturbed = False  # it was paused or told to stop: its silence may have been its own
        self.pauses: list[tuple[float, float]] = []  # from when to when it stood still, or was about to leave
        self.ended_at = float("inf")
        self.steps_left = -1  # until it is killed; -1: not by itself
        self.idle: dict[Callable[[], None], None] = {}  # wakes those who only wait to be told to stop
        self.kept: list[Any] = []  # tasks, fibers and handles: freed while the run goes on, they would run `finally`

    def __repr__(self) -> str:
        return f"{self.name}#{self.number}"

    def check(self) -> None:
        """Raise Crashed where the process is dead: every port asks this first."""
        if not self.alive:
            raise Crashed(repr(self))


CURRENT: ContextVar[Life | None] = ContextVar("simulated process", default=None)
WORLD = Life("world", 0)  # the broker's own doings, and whoever only looks


_OF_THE_WORLD = copy_context()
_OF_THE_WORLD.run(CURRENT.set, WORLD)


def current() -> Life:
    """Return the process whose code runs now."""
    return CURRENT.get() or WORLD


def of_the_world() -> Context:
    """Return the context of what is on the wire: it goes on whatever becomes of the process whose code runs now."""
    return _OF_THE_WORLD


def as_the_world(work: Callable[[], T]) -> T:
    """Do something that goes on whatever becomes of the process whose code runs now: it is on the wire."""
    context = copy_context()
    context.run(CURRENT.set, WORLD)
    return context.run(work)
