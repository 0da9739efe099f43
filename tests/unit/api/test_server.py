"""The server under the application, over a socket of its own."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from api.server import Runner


async def _sent(port: int, head: str, body: bytes = b"") -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head.encode() + b"\r\n\r\n" + body)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


@asynccontextmanager
async def _serving() -> AsyncIterator[int]:
    async def answered(_request: web.Request) -> web.Response:
        return web.Response(text="ok")

    app = web.Application()
    app.router.add_route("*", "/health", answered)
    runner = Runner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield runner.addresses[0][1]
    await runner.cleanup()


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (f"GET /health?a={'a' * 33_000} HTTP/1.1", b"at most 32768 bytes"),
        (f"GET /health HTTP/1.1\r\nX-A: {'a' * 9_000}", b"a header 8190"),
        ("GET /health HTTP/1.1\r\nno header", b"not a well-formed"),
    ],
    ids=["query", "header", "junk"],
)
async def test_what_is_longer_than_is_read_is_told_so(head: str, said: bytes) -> None:
    async with _serving() as port:
        answer = await _sent(port, head)
    assert b" 400 " in answer.partition(b"\r\n")[0]
    assert said in answer


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd", "br"])
async def test_a_body_that_nobody_reads_and_that_is_not_encoded_as_it_says_is_no_fault_of_ours(
    encoding: str, caplog: pytest.LogCaptureFixture
) -> None:
    head = f"POST /health HTTP/1.1\r\nHost: api\r\nContent-Encoding: {encoding}\r\nContent-Length: 2"
    with caplog.at_level(logging.WARNING, logger="api.server"):
        async with _serving() as port:
            answer = await _sent(port, head, b"{}")
    assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.0 400"))
    assert [(each.levelname, each.exc_info) for each in caplog.records] == [("WARNING", None)]
