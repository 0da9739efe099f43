"""What is answered and logged when what comes is no HTTP."""

import asyncio
import json
import logging

import pytest
from aiohttp import web

from api.server import Runner

SECRET = "jlk_0123_secretsecret"
MALFORMED = {
    "a control character in a header": f"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {SECRET}\x01\r\n\r\n",
    "a blank before a colon": f"GET / HTTP/1.1\r\nHost: a\r\nAuthorization : Bearer {SECRET}\r\n\r\n",
    "bytes that no url has": f"GET /\x01?token={SECRET} HTTP/1.1\r\nHost: a\r\n\r\n",
    "an unknown version": f"GET /?token={SECRET} HTTP/9.9\r\nHost: a\r\n\r\n",
    "a header without end": f"GET / HTTP/1.1\r\nHost: a\r\nX: {SECRET * 1000}\r\n\r\n",
    "an unknown encoding": "POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n{}",
}


@pytest.mark.parametrize("name", MALFORMED)
async def test_what_is_no_http_is_a_bad_request_in_json_and_nothing_of_it_comes_back_or_is_logged(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    runner = Runner(web.Application(), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        reader, writer = await asyncio.open_connection("127.0.0.1", runner.addresses[0][1])
        writer.write(MALFORMED[name].encode())
        head, _, body = (await asyncio.wait_for(reader.read(), 5)).partition(b"\r\n\r\n")
        writer.close()
    finally:
        await runner.cleanup()
    assert b" 400 " in head.split(b"\r\n")[0]
    assert json.loads(body)["error"] == "bad_request"
    assert "secret" not in body.decode() + caplog.text
