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

    def is_followed_by(self, connection: Connection) -> bool:
        """Whether a connection was set up since the last switch that was met."""
        return self._followed.get(connection) == self._number

    def followed_by(self, connection: Connection) -> None:
        """Note that a connection is set up."""
        self._followed[connection] = self._number

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
