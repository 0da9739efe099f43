"""Lets readers follow the read model from one version to the next, from one read to the next.

When a rebuild switches, the schema of the old version loses its name in the same transaction: a connection that still
looks for it finds no table. The read is made again then, by connections that are set up anew.
"""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary

from psycopg import AsyncConnection
from psycopg.errors import UndefinedTable

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Connection = AsyncConnection[Any]


class Version:
    """Which connections follow the version that is active, as far as is known."""

    def __init__(self) -> None:
        self._number = 0
        self._followed: WeakKeyDictionary[Connection, int] = WeakKeyDictionary()

    async def set_up(self, connection: Connection, configure: Callable[[Connection], Awaitable[None]]) -> None:
        """Configure a connection that does not follow yet: for the version that was active when that began."""
        number = self._number
        if self._followed.get(connection) != number:
            await configure(connection)
            self._followed[connection] = number

    def was_replaced(self) -> None:
        """Have every connection set up anew before it is used again."""
        self._number += 1


class Follows(Protocol):
    """A reader with a version."""

    _version: Version


Reader = TypeVar("Reader", bound=Follows)


def on_the_active_version(
    read: Callable[Concatenate[Reader, Given], Awaitable[Answer]],
) -> Callable[Concatenate[Reader, Given], Awaitable[Answer]]:
    """Make a read once more where its version was replaced."""

    @wraps(read)
    async def following(self: Reader, /, *given: Given.args, **named: Given.kwargs) -> Answer:
        try:
            return await read(self, *given, **named)
        except UndefinedTable:
            self._version.was_replaced()
            return await read(self, *given, **named)

    return following
