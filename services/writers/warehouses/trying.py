"""Tries a destination for its owner: connects, makes the table, and says what came of it."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from services.writers.warehouses.delivering import UNAVAILABLE, said_of
from services.writers.warehouses.kinds import Kind, Opening

TRY_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it; `error_type` empty: all is well."""

    seconds: float
    columns: Sequence[str] = ()
    error_type: str = ""
    message: str = ""


async def tried(kind: Kind, opening: Opening, within_seconds: float = TRY_SECONDS) -> Tried:
    """Return what came of it; no text of an error that nobody has foreseen is in it."""
    started = time.monotonic()
    table = None
    try:
        async with asyncio.timeout(within_seconds):
            table = kind.open(opening)
            columns = sorted(await table.columns())
        return Tried(_since(started), columns)
    except TimeoutError:
        return Tried(_since(started), (), UNAVAILABLE, f"no answer within {within_seconds:g} s")
    except Exception as error:
        return Tried(_since(started), (), *said_of(error, kind))
    finally:
        if table:
            await table.close()


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)
