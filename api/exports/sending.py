"""Sends a file while it is made: nothing of it is kept, and a reader who stops or leaves ends the making."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping

from aiohttp import web

log = logging.getLogger(__name__)
SLOW_SECONDS = 60.0  # in which a reader takes something


async def sent(request: web.Request, headers: Mapping[str, str], parts: AsyncIterator[bytes]) -> web.StreamResponse:
    """Send the parts of a file. A fault breaks the connection, so that what came is not taken for the whole.

    What keeps it from beginning is raised: it can still be told as an answer.
    """
    first = await anext(parts, b"")
    response = web.StreamResponse(headers=headers)
    reason = "reader"
    try:
        await response.prepare(request)
        await _write(response, first)
        async for part in parts:
            await _write(response, part)
        async with asyncio.timeout(SLOW_SECONDS):
            await response.write_eof()
        reason = "done"
    except ConnectionError:
        pass  # it left
    except TimeoutError:
        reason = "slow"
        _abort(request)
    except Exception:
        reason = "fault"
        log.exception("a download broke")
        _abort(request)
    finally:
        log.info("download ended", extra={"reason": reason})
    return response


async def _write(response: web.StreamResponse, part: bytes) -> None:
    async with asyncio.timeout(SLOW_SECONDS):
        await response.write(part)


def gone(request: web.Request) -> bool:
    """Whether whoever asked has left."""
    return request.transport is None or request.transport.is_closing()


def _abort(request: web.Request) -> None:
    if request.transport:
        request.transport.abort()
