"""Compresses JSON answers as the caller asks; never those that hold a secret, and no streams.

What is not to be stored (`Cache-Control: no-store`) shows a secret: how long a compressed text is tells what is in it.
"""

import asyncio
import threading
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache

from aiohttp import web
from backports import zstd

MIN_BYTES = 1024  # below, it is not worth it
THREAD_BYTES = 128 * 1024  # above, it would hold up the other calls
GZIP = 16  # added to the bits of a window: zlib writes the frame of gzip then
SMALL_WINDOW, SMALL_MEMORY = 13, 6  # of zlib, in powers of two
_LEVEL = 3  # a page of a list becomes a tenth, in less time than it took to encode it


class _Zstd(threading.local):
    """A coder for each thread: to make one ready costs four times as much as to compress an answer with it."""

    def __init__(self) -> None:
        self.coder = zstd.ZstdCompressor(level=_LEVEL)


_zstd_of = _Zstd()


def _zstd(data: bytes) -> bytes:
    return _zstd_of.coder.compress(data, zstd.ZstdCompressor.FLUSH_FRAME)


def _gzip(data: bytes) -> bytes:
    return _deflated(data, GZIP)


def _deflate(data: bytes) -> bytes:
    return _deflated(data, 0)


def _deflated(data: bytes, form: int) -> bytes:
    """Compress; what fits into a small window in little memory: to make that ready costs more than to use it."""
    window, memory = (SMALL_WINDOW, SMALL_MEMORY) if len(data) <= 1 << SMALL_WINDOW else (zlib.MAX_WBITS, 8)
    coder = zlib.compressobj(_LEVEL, zlib.DEFLATED, form + window, memory)
    return coder.compress(data) + coder.flush()


CODINGS: Mapping[str, Callable[[bytes], bytes]] = {"zstd": _zstd, "gzip": _gzip, "deflate": _deflate}  # the best first


async def compress(accepted: str, response: web.StreamResponse) -> None:
    """Compress an answer that is worth it, by what the header Accept-Encoding of its request accepts."""
    if not isinstance(response, web.Response) or response.content_type != "application/json":
        return
    body = response.body
    if not isinstance(body, bytes) or len(body) < MIN_BYTES or response.headers.get("Cache-Control") == "no-store":
        return
    response.headers["Vary"] = "Accept-Encoding"
    if coding := chosen(accepted):
        small = CODINGS[coding]
        response.body = small(body) if len(body) < THREAD_BYTES else await asyncio.to_thread(small, body)
        response.headers["Content-Encoding"] = coding


@lru_cache(maxsize=256)
def chosen(accepted: str) -> str:
    """Return the coding that the caller likes best, the better one where it does not care; "": none."""
    weights: dict[str, float] = {}
    for item in accepted.lower().split(","):
        name, _, parameter = item.partition(";")
        weights[name.strip()] = _weight(parameter)
    best = max(CODINGS, key=lambda name: weights.get(name, weights.get("*", 0.0)))  # of equals the first
    return best if weights.get(best, weights.get("*", 0.0)) > 0 else ""


def _weight(parameter: str) -> float:
    name, _, value = parameter.partition("=")
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0
