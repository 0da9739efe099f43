"""Failures that nobody hears: futures and tasks that failed, were let go of, and had been asked by nobody.

The event loop tells of them where it frees them. Of what a killed process was about to hear nobody tells.
"""

import asyncio
from asyncio import Handle
from collections.abc import Iterable
from typing import Any

from tests.simulation.life import Life, current


class Future(asyncio.Future[Any]):
    """A future that knows whose it is."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self.life = current()


class Unheard:
    """Hears what the loop tells of, in place of a log."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __call__(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Note a failure; this is an exception handler of a loop."""
        thing = context.get("future") or context.get("task") or context.get("handle")
        error = context.get("exception")
        life = _life_of(thing)
        if isinstance(life, Life) and life.killed:
            return  # what it waited for together with others, say, some of which were still to come
        self.told.append(f"{life}: {context['message']}: {error!r} of {_name_of(thing)}")


def heard(handles: Iterable[Handle]) -> None:
    """Take what is on its way to somebody who is killed, or is asked no more, for heard."""
    for handle in handles:
        for each in handle._args or ():
            if isinstance(each, asyncio.Future) and each.done() and not each.cancelled():
                each.exception()


def _life_of(thing: Any) -> Life | str:
    children = getattr(thing, "_children", None)
    return _life_of(children[0]) if children else getattr(thing, "life", "somebody")


def _name_of(thing: Any) -> str:
    coroutine = thing.get_coro() if isinstance(thing, asyncio.Task) else None
    return getattr(coroutine, "__qualname__", type(thing).__name__)
