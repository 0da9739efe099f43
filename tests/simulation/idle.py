"""Stand-ins that do nothing: what is not simulated, and nobody rests on."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

from services.runtime.settings import Settings


async def serve(_settings: Settings, _health: Any) -> Any:
    """Serve no health."""

    async def close() -> None:
        """Nothing was opened."""

    return SimpleNamespace(close=close)


async def watch_nothing(*_: Any) -> None:
    """Go on for ever."""
    await asyncio.Event().wait()


@asynccontextmanager
async def nothing(*_: Any, **__: Any) -> Any:
    """Lend nothing."""
    yield None
