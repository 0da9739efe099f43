"""gzip of a file that is made part by part."""

import asyncio
import zlib
from collections.abc import AsyncGenerator, AsyncIterable

AS_GZIP = 31  # window bits of zlib: 15, and a header and trailer of gzip
LEVEL = 6


async def gzipped(parts: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
    """Yield the parts of a file compressed, a little at a time. What is wrong with the first is raised before any."""
    packing = zlib.compressobj(LEVEL, zlib.DEFLATED, AS_GZIP)
    async for part in parts:
        if data := await asyncio.to_thread(packing.compress, part):
            yield data
    yield packing.flush()
