"""A proxy of bytes over real sockets that cuts: when a test says so, or when nothing came back for too long."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Relay:
    """Where it listens, and how often it cut a connection because the server was silent."""

    url: str = ""
    idle_cuts: int = 0
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    def cut(self) -> None:
        """Cut every connection, in the middle of whatever it carries."""
        for writer in self._open:
            writer.transport.abort()


@asynccontextmanager
async def relaying(target: str, idle_seconds: float = 3600.0) -> AsyncIterator[Relay]:
    """Pass bytes on to http://host:port, in both directions; a server silent for `idle_seconds` is cut off."""
    relay = Relay()
    host, _, port = target.removeprefix("http://").partition(":")

    async def carry(client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        server, asks = await asyncio.open_connection(host, int(port))
        relay._open |= {answers, asks}
        back = asyncio.create_task(_pass(server, answers, idle_seconds))
        forth = asyncio.create_task(_pass(client, asks, None))
        try:
            done, _ = await asyncio.wait({back, forth}, return_when=asyncio.FIRST_COMPLETED)
            relay.idle_cuts += back in done and back.result()
        finally:
            for task in (back, forth):
                task.cancel()
            await asyncio.gather(back, forth, return_exceptions=True)
            for writer in (answers, asks):
                relay._open.discard(writer)
                writer.transport.abort()

    listening = await asyncio.start_server(carry, "127.0.0.1", 0)
    relay.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield relay
    finally:
        listening.close()
        relay.cut()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(listening.wait_closed(), 5)


async def _pass(source: asyncio.StreamReader, sink: asyncio.StreamWriter, idle_seconds: float | None) -> bool:
    """Pass bytes on until either side ends (False), or nothing came for too long (True)."""
    with contextlib.suppress(ConnectionError):
        while True:
            try:
                async with asyncio.timeout(idle_seconds):
                    data = await source.read(65536)
            except TimeoutError:
                return True
            if not data:
                return False
            sink.write(data)
            await sink.drain()
    return False
