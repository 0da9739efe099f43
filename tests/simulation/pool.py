"""Connections to Postgres for statements that a stand-in answers by itself, each at once, and that is away at times."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import psycopg

from tests.simulation.chaos import Chaos
from tests.simulation.life import current

Does = Callable[[Any, Mapping[str, Any]], Sequence[Any]]  # a statement, with its values, to its rows


class Pool:
    """Stands for `psycopg_pool.AsyncConnectionPool`."""

    def __init__(self, does: Does, chaos: Chaos) -> None:
        self._does, self._chaos = does, chaos

    async def __aenter__(self) -> "Pool":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    @asynccontextmanager
    async def connection(self) -> AsyncIterator["Connection"]:
        """Lend a connection."""
        current().check()
        await asyncio.sleep(self._chaos.latency())
        yield Connection(self._does, self._chaos)


class Connection:
    """A connection, and its own cursor."""

    def __init__(self, does: Does, chaos: Chaos) -> None:
        self._does, self._chaos = does, chaos

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Keep nothing back: whoever needs two changes to be one is not simulated by this."""
        yield

    @asynccontextmanager
    async def cursor(self, **_: Any) -> AsyncIterator["Connection"]:
        """Return itself; what makes rows is up to the stand-in."""
        yield self

    async def execute(self, statement: Any, values: Mapping[str, Any] | None = None) -> Any:
        """Do what a statement says."""
        await self._call("read_model_down_before")
        self._rows = self._does(statement, values or {})
        await self._call("read_model_down_after")
        return SimpleNamespace(fetchall=self.fetchall, fetchone=self.fetchone, rowcount=len(self._rows))

    async def fetchall(self) -> Sequence[Any]:
        """Return what the statement gave."""
        return self._rows

    async def fetchone(self) -> Any:
        """Return the first row of it, if any."""
        return self._rows[0] if self._rows else None

    async def _call(self, fault: Any) -> None:
        current().check()
        await asyncio.sleep(self._chaos.latency())
        current().check()
        if self._chaos.strikes(fault):
            raise psycopg.OperationalError("simulated: away")
