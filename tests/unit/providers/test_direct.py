"""The direct provider against real sockets: every failure is a value with its class."""

import asyncio
import gzip
import json
import tracemalloc

import pytest
from aiohttp import web

from services.ledger.workflow import ServiceSettings
from services.workers.providers.direct import MAX_REDIRECTS
from services.workers.providers.protocol import Fetched, ProviderError
from tests.unit.providers.sites import MAX_BODY_BYTES, fetched, raw_serving, serving


async def page(_request: web.Request) -> web.StreamResponse:
    return web.Response(body=b"<p>hello</p>", content_type="text/html", headers={"ETag": "x", "Set-Cookie": "a=b"})


async def echo(request: web.Request) -> web.StreamResponse:
    return web.json_response(dict(request.headers))


async def test_a_page_comes_back_with_what_is_worth_keeping() -> None:
    async with serving(page) as base:
        result = await fetched(f"{base}/x#part")
    assert isinstance(result, Fetched)
    assert (result.status, result.body, result.final_url) == (200, b"<p>hello</p>", f"{base}/x")
    assert result.content_type == "text/html"
    assert result.headers["etag"] == "x"
    assert "set-cookie" not in result.headers
    assert result.latency_ms >= 0


async def test_the_headers_of_the_workflow_are_sent() -> None:
    async with serving(echo) as base:
        result = await fetched(base, ServiceSettings(headers={"X-Render": "browser", "User-Agent": "mine"}))
    assert isinstance(result, Fetched)
    assert b'"X-Render": "browser"' in result.body
    assert b'"User-Agent": "mine"' in result.body


async def test_what_frames_a_request_is_not_taken_from_a_workflow_that_was_saved_with_it() -> None:
    """Else the site takes the beginning of the next request on the connection, of whatever org, for its body."""
    framing = {"Content-Length": "5", "transfer-encoding": "chunked", "Connection": "close", "HOST": "other.example"}
    async with serving(echo) as base:
        result = await fetched(base, ServiceSettings(headers={**framing, "X-Render": "browser"}))
    assert isinstance(result, Fetched)
    sent = {name.lower(): value for name, value in json.loads(result.body).items()}
    assert sent["x-render"] == "browser"
    assert sent["host"] == base.removeprefix("http://")
    assert not {"content-length", "transfer-encoding", "connection"} & sent.keys()


def redirect_to(location: str) -> web.Response:
    return web.Response(status=302, headers={"Location": location})


@pytest.mark.parametrize(
    ("status", "error_type", "retryable"),
    [
        (404, "http_4xx", False),
        (403, "http_4xx", False),
        (408, "timeout", True),
        (429, "http_429", True),
        (500, "http_5xx", True),
        (503, "http_5xx", True),
    ],
)
async def test_an_error_status_becomes_its_error(status: int, error_type: str, retryable: bool) -> None:
    async def failing(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers={"Retry-After": "7"})

    async with serving(failing) as base:
        result = await fetched(base)
    assert isinstance(result, ProviderError)
    assert (result.error_type, result.retryable, result.status_code) == (error_type, retryable, status)
    assert result.retry_after_seconds == (7 if retryable else None)


async def test_an_answer_that_does_not_come_is_a_timeout() -> None:
    never = asyncio.Event()

    async def hanging(_request: web.Request) -> web.StreamResponse:
        await never.wait()
        return web.Response()

    async with serving(hanging) as base:
        result = await fetched(base, ServiceSettings(timeout_seconds=0.05))
        never.set()
    assert isinstance(result, ProviderError)
    assert (result.error_type, result.retryable) == ("timeout", True)


async def test_a_body_that_trickles_is_a_timeout_too() -> None:
    never = asyncio.Event()

    async def trickling(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"a")
        await never.wait()
        return response

    async with serving(trickling) as base:
        result = await fetched(base, ServiceSettings(timeout_seconds=0.05))
        never.set()
    assert isinstance(result, ProviderError)
    assert result.error_type == "timeout"


async def test_a_body_over_the_limit_is_refused_whether_declared_or_not() -> None:
    async def declared(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"x" * (MAX_BODY_BYTES + 1))

    async def chunked(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        await response.write(b"x" * (MAX_BODY_BYTES + 1))
        return response

    async def compressed(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=gzip.compress(b"x" * 5 * MAX_BODY_BYTES), headers={"Content-Encoding": "gzip"})

    for handler in (declared, chunked, compressed):
        async with serving(handler) as base:
            result = await fetched(base)
        assert isinstance(result, ProviderError), handler
        assert (result.error_type, result.retryable) == ("too_large", False)


async def test_redirects_are_followed_to_the_final_address() -> None:
    async def hopping(request: web.Request) -> web.StreamResponse:
        hop = int(request.path.strip("/") or 0)
        return web.Response(text="there") if hop == 3 else redirect_to(f"/{hop + 1}")

    async with serving(hopping) as base:
        result = await fetched(base)
    assert isinstance(result, Fetched)
    assert result.final_url == f"{base}/3"


async def test_redirects_that_come_round_or_never_end_are_a_loop() -> None:
    async def circle(request: web.Request) -> web.StreamResponse:
        return redirect_to("/b" if request.path == "/a" else "/a")

    async def endless(request: web.Request) -> web.StreamResponse:
        return redirect_to(f"{request.path}x")

    for handler in (circle, endless):
        async with serving(handler) as base:
            result = await fetched(f"{base}/a")
        assert isinstance(result, ProviderError)
        assert result.error_type == "redirect_loop"
        assert "comes round" in result.message or str(MAX_REDIRECTS) in result.message


async def test_a_secret_header_is_not_carried_to_another_origin() -> None:
    async with serving(echo) as other:

        async def leading_away(_request: web.Request) -> web.StreamResponse:
            return redirect_to(other)

        async with serving(leading_away) as base:
            result = await fetched(base, ServiceSettings(headers={"Authorization": "secret", "X-Kept": "yes"}))
    assert isinstance(result, Fetched)
    assert b"secret" not in result.body
    assert b"X-Kept" in result.body


async def test_cookies_are_not_kept_between_pages() -> None:
    async def setting(request: web.Request) -> web.StreamResponse:
        if request.path == "/second":
            return web.Response(text=request.headers.get("Cookie", "none"))
        response = redirect_to("/second")
        response.set_cookie("org", "a")
        return response

    async with serving(setting) as base:
        result = await fetched(base)
    assert isinstance(result, Fetched)
    assert result.body == b"none"


async def test_a_closed_port_is_a_connection_error() -> None:
    async with serving(page) as base:
        pass
    result = await fetched(base)
    assert isinstance(result, ProviderError)
    assert (result.error_type, result.retryable) == ("connection", True)


def answered_with(*headers: bytes) -> bytes:
    """Return an answer with these headers, as it goes over the wire."""
    return b"\r\n".join([b"HTTP/1.1 200 OK", b"Content-Length: 5", *headers, b"", b"hello"])


@pytest.mark.parametrize(
    "headers",
    [
        [b"Content-Security-Policy: " + b"a" * 20_000],
        [b"Set-Cookie: c%d=%s" % (number, b"v" * 80) for number in range(200)],
        [b"X-Odd: caf\xe9 \xff\xfe", b"Content-Type: text/html; charset=\xff"],
    ],
    ids=["long", "many", "not ascii"],
)
async def test_a_page_comes_with_headers_as_browsers_take_them(headers: list[bytes]) -> None:
    async with raw_serving(answered_with(*headers)) as base:
        result = await fetched(base)
    assert isinstance(result, Fetched), result
    assert result.body == b"hello"


@pytest.mark.parametrize("headers", [[b"X-A: " + b"a" * 200_000], [b"X-A: a"] * 5_000], ids=["long", "many"])
async def test_headers_without_end_are_a_connection_error(headers: list[bytes]) -> None:
    async with raw_serving(answered_with(*headers)) as base:
        result = await fetched(base)
    assert isinstance(result, ProviderError)
    assert result.error_type == "connection"


async def test_a_page_that_unpacks_to_more_than_is_kept_is_refused_in_little_memory() -> None:
    bomb = gzip.compress(bytes(100 * MAX_BODY_BYTES), 9)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    tracemalloc.start()
    try:
        async with raw_serving(head + bomb) as base:
            result = await fetched(base)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(result, ProviderError)
    assert result.error_type == "too_large"
    assert most < 20 * MAX_BODY_BYTES


@pytest.mark.parametrize(
    "answer", [b"", b"not http at all\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"]
)
async def test_a_broken_answer_is_a_connection_error(answer: bytes) -> None:
    async with raw_serving(answer) as base:
        result = await fetched(base)
    assert isinstance(result, ProviderError)
    assert (result.error_type, result.retryable) == ("connection", True)


@pytest.mark.parametrize(
    "url", ["", "x", "ftp://host/", "file:///etc/passwd", "http://", "http://[", "http://a:99999/"]
)
async def test_what_is_not_a_web_address_is_a_bad_url(url: str) -> None:
    result = await fetched(url)
    assert isinstance(result, ProviderError)
    assert (result.error_type, result.retryable) == ("bad_url", False)


async def test_a_redirect_to_another_scheme_is_a_bad_url() -> None:
    async def leading_to_file(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": "file:///etc/passwd"})

    async with serving(leading_to_file) as base:
        result = await fetched(base)
    assert isinstance(result, ProviderError)
    assert result.error_type == "bad_url"


async def test_a_private_address_is_refused_before_anything_is_sent() -> None:
    asked: list[str] = []

    async def noting(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        return web.Response()

    async with serving(noting) as base:
        port = base.rpartition(":")[2]
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
            result = await fetched(f"http://{host}:{port}/", allowed=())
            assert isinstance(result, ProviderError), host
            assert (result.error_type, result.retryable) == ("address_refused", False), result
        for disguise in ("2130706433", "0x7f.1", "017700000001", "127.1"):
            assert isinstance(await fetched(f"http://{disguise}:{port}/", allowed=()), ProviderError), disguise
    assert asked == []


async def test_a_redirect_to_a_private_address_is_refused() -> None:
    async def leading_inside(_request: web.Request) -> web.StreamResponse:
        return redirect_to("http://169.254.169.254/latest/meta-data/")

    async with serving(leading_inside) as base:
        result = await fetched(base)  # private addresses allowed, metadata never
    assert isinstance(result, ProviderError)
    assert result.error_type == "address_refused"
