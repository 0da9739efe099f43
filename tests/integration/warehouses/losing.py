"""A proxy of Postgres over real sockets, which can lose the answer to a COMMIT."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass
class Losing:
    """Where it listens, and whether the answer to the next COMMIT gets lost."""

    port: int = 0
    armed: bool = False


@asynccontextmanager
async def losing(host: str, port: int) -> AsyncIterator[Losing]:
    """Pass bytes on, in both directions."""
    proxy = Losing()

    async def carry(client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        server, asks = await asyncio.open_connection(host, port)
        committing = asyncio.Event()

        def asked(data: bytes) -> bool:
            if proxy.armed and b"COMMIT" in data:
                proxy.armed = False
                committing.set()
            return True

        passing = (_pass(client, asks, asked), _pass(server, answers, lambda _data: not committing.is_set()))
        try:
            await asyncio.wait([asyncio.ensure_future(each) for each in passing], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for writer in (answers, asks):
                writer.transport.abort()

    listening = await asyncio.start_server(carry, "127.0.0.1", 0)
    proxy.port = listening.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listening.close()


async def _pass(source: asyncio.StreamReader, sink: asyncio.StreamWriter, may: Callable[[bytes], bool]) -> None:
    """Pass bytes on until the source ends, or one piece may not."""
    with contextlib.suppress(ConnectionError):
        while (data := await source.read(65536)) and may(data):
            sink.write(data)
            await sink.drain()
