"""The server under the application, over a socket of its own."""

import asyncio
import logging

import pytest
from aiohttp import web

from api.server import Runner


async def _sent(port: int, encoding: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /health HTTP/1.1\r\nHost: api\r\nContent-Encoding: {encoding}\r\nContent-Length: 2\r\n\r\n"
    writer.write(head.encode() + b"{}")
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd", "br"])
async def test_a_body_that_nobody_reads_and_that_is_not_encoded_as_it_says_is_no_fault_of_ours(
    encoding: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def answered(_request: web.Request) -> web.Response:
        return web.Response(text="ok")

    app = web.Application()
    app.router.add_route("*", "/health", answered)
    runner = Runner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    with caplog.at_level(logging.WARNING, logger="api.server"):
        answer = await _sent(runner.addresses[0][1], encoding)
    await runner.cleanup()
    assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.0 400"))
    assert [(each.levelname, each.exc_info) for each in caplog.records] == [("WARNING", None)]
