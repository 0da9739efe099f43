"""Endpoints that answer oddly, over a socket without any server in between: the status counts once it is there."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from services.runtime.settings import Settings
from services.writers.webhook import sender
from services.writers.webhook.sender import Outcome, Sender
from tests.unit.webhook.fakes import SETTINGS

OK = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture(autouse=True)
def _short_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "READ_SECONDS", 0.3)  # a busy machine takes its time between status and body


@asynccontextmanager
async def answering(*pieces: bytes, closes: bool) -> AsyncIterator[str]:
    """Serve an endpoint that sends these pieces, and then closes or says nothing more."""
    ended = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            if not closes:
                await ended.wait()
        except ConnectionError:  # the client has heard enough
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        ended.set()
        server.close()


async def outcome_of(*pieces: bytes, closes: bool = False, timeout_seconds: float = 20.0) -> Outcome:
    """Send to such an endpoint."""
    async with (
        answering(*pieces, closes=closes) as url,
        Sender(replace(SETTINGS, webhook_timeout_seconds=timeout_seconds)) as sending,
    ):
        return await sending.send(url, {}, b"{}")


@pytest.mark.parametrize(
    ("pieces", "closes", "answer"),
    [
        ([OK, b"Content-Length: 100\r\n\r\n", b"begun"], False, b"begun"),
        ([OK, b"Content-Length: 100\r\n\r\n", b"begun"], True, b"begun"),
        ([OK, b"\r\n", *[b"x" * 4096] * 64], False, b"x" * sender.READ_BYTES),
        ([OK, b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n", b"no zi"], False, b"no zi"),
        ([b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", OK, b"Content-Length: 0\r\n\r\n"], False, b""),
        ([b"HTTP/1.1 204 No Content\r\n\r\n"], False, b""),
        ([b"HTTP/1.0 200 OK\r\n\r\n", b"old"], True, b"old"),
    ],
    ids=["slow-body", "broken-body", "endless-body", "no-gzip", "hints-first", "no-content", "http-1-0"],
)
async def test_who_has_said_2xx_has_the_message(pieces: Sequence[bytes], closes: bool, answer: bytes) -> None:
    outcome = await outcome_of(*pieces, closes=closes)
    assert (outcome.error_type, outcome.answer) == ("", answer)


async def test_gone_and_throttled_count_although_the_body_never_comes() -> None:
    gone = await outcome_of(b"HTTP/1.1 410 Gone\r\nContent-Length: 9\r\n\r\n")
    assert (gone.gone, gone.retryable) == (True, False)
    asked = await outcome_of(b"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 9\r\n\r\n", closes=True)
    assert (asked.error_type, asked.throttled, asked.pause_seconds) == ("http_429", True, 7.0)


@pytest.mark.parametrize(
    "pieces",
    [
        [b"SSH-2.0-OpenSSH_9\r\n"],
        [],
        [OK + b"Content-Length: -5\r\n\r\nabc"],
        [OK + b"Content-Length: 2\r\nContent-Length: 5\r\n\r\nabcde"],
        [OK + b"X-Much: " + b"y" * 20_000 + b"\r\n\r\n"],
        [OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n"],
    ],
    ids=["no-http", "nothing", "negative-length", "two-lengths", "endless-headers", "no-chunks"],
)
async def test_what_is_no_answer_is_tried_again(pieces: Sequence[bytes]) -> None:
    outcome = await outcome_of(*pieces, closes=True)
    assert (outcome.status, outcome.error_type, outcome.retryable) == (0, "connection", True)


async def test_a_status_that_never_ends_is_a_timeout() -> None:
    outcome = await outcome_of(b"HTTP/1.1 102 Processing\r\n\r\n", b"HTTP/1.1 20", timeout_seconds=0.2)
    assert (outcome.status, outcome.error_type, outcome.retryable) == (0, "timeout", True)


async def test_what_the_log_of_attempts_gets_is_status_latency_and_the_first_kib(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments = iter((100.0, 100.25))
    monkeypatch.setattr(sender, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    outcome = await outcome_of(b"HTTP/1.1 500 x\r\nContent-Length: 2000\r\n\r\n", b"a" * 1024 + b"b" * 976)
    assert (outcome.status, outcome.latency_ms, outcome.answer) == (500, 250, b"a" * 1024)


def test_an_endpoint_has_15_seconds_for_its_status() -> None:
    assert Settings(kafka="", postgres="", registry="", blobs="").webhook_timeout_seconds == 15.0


@pytest.mark.parametrize(
    ("status", "throttled"),
    [(429, True), (502, True), (504, True), (500, False), (503, False), (408, False), (404, False)],
)
async def test_of_answers_that_name_no_time_429_502_and_504_throttle_the_endpoint(status: int, throttled: bool) -> None:
    outcome = await outcome_of(f"HTTP/1.1 {status} x\r\nContent-Length: 0\r\n\r\n".encode())
    assert (outcome.throttled, outcome.pause_seconds, outcome.retryable) == (throttled, None, True)
    named = await outcome_of(f"HTTP/1.1 {status} x\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n".encode())
    assert (named.throttled, named.pause_seconds) == (True, 9.0)


@pytest.mark.parametrize("asked", ["99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
async def test_a_pause_of_ages_is_a_day_for_the_message(asked: str) -> None:
    outcome = await outcome_of(f"HTTP/1.1 503 x\r\nRetry-After: {asked}\r\nContent-Length: 0\r\n\r\n".encode())
    assert (outcome.retry_after_ms, outcome.throttled) == (86_400_000, True)


@pytest.mark.parametrize("asked", ["-5", "nan", "1e3", "", "Fri, 01 Jan 1999 00:00:00 GMT"])
async def test_a_pause_that_is_none_delays_nothing(asked: str) -> None:
    outcome = await outcome_of(f"HTTP/1.1 503 x\r\nRetry-After: {asked}\r\nContent-Length: 0\r\n\r\n".encode())
    assert (outcome.error_type, outcome.retry_after_ms) == ("http_503", 0)
