"""Posts one message to one url and says what came of it: only 2xx is an answer, redirects are not followed.

The status counts, whatever becomes of the body behind it: who has said 200, or 410, has said it.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

import aiohttp
from yarl import URL

from services.runtime.addresses import address_refused, checked_connector
from services.runtime.retry_after import retry_after_seconds
from services.runtime.sessions import session_over
from services.runtime.settings import Settings
from services.runtime.time import utc_now

KEPT_OPEN_SECONDS = 4.0  # shorter than servers keep idle connections: none is used as it is closed
READ_BYTES = 1024  # of an answer's body, for the log of attempts
READ_SECONDS = 2.0  # that they may take
LONGEST_WAIT_SECONDS = 24 * 3600.0  # that an endpoint may ask for
PLAIN = {"Accept-Encoding": "identity"}  # what is packed all the same stays so: it might be a thousand times larger
GONE, TOO_MANY_REQUESTS = 410, 429
THROTTLING = frozenset({TOO_MANY_REQUESTS, 502, 504})  # ask for less, also without a Retry-After


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one call. `error_type` empty: the receiver has it."""

    latency_ms: int
    status: int = 0  # 0: no answer came
    error_type: str = ""
    message: str = ""  # never quotes the url or the answer
    retryable: bool = True
    retry_after_ms: int = 0  # that this message has to wait
    throttled: bool = False  # the endpoint wants fewer calls
    pause_seconds: float | None = None  # for so long it wants none
    answer: bytes = b""  # the beginning of what it answered

    @property
    def gone(self) -> bool:
        """Whether the endpoint wants nothing any more."""
        return self.status == GONE


class Sender:
    """One client session for all endpoints; connects only to addresses that were checked."""

    def __init__(self, settings: Settings) -> None:
        self._timeout_seconds = settings.webhook_timeout_seconds
        connector = checked_connector(
            settings.allowed_networks,
            limit=0,  # the writer bounds what is under way
            keepalive_timeout=KEPT_OPEN_SECONDS,
        )
        self._session = session_over(connector, auto_decompress=False, User_Agent="jobledger/0.1 (+webhook)")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Outcome:
        """Post a body; every failure comes back as an Outcome."""
        started = time.monotonic()

        def failed(error_type: str, message: str, *, retryable: bool = True) -> Outcome:
            return Outcome(_elapsed_ms(started), error_type=error_type, message=message, retryable=retryable)

        try:
            async with asyncio.timeout(self._timeout_seconds):
                response = await self._session.post(
                    URL(url), data=body, headers={**headers, **PLAIN}, allow_redirects=False
                )
        except TimeoutError:
            return failed("timeout", f"no answer within {self._timeout_seconds:g} s")
        except (aiohttp.InvalidURL, ValueError):
            return failed("bad_url", "the endpoint's url cannot be used", retryable=False)
        except (aiohttp.ClientError, OSError) as error:
            if address_refused(error):
                return failed("address_refused", "the endpoint is at an address that is not public", retryable=False)
            return failed("connection", type(error).__name__)

        outcome = _judged(response.status, response.headers.get("Retry-After", ""), _elapsed_ms(started))
        async with response:
            return replace(outcome, answer=await _beginning(response.content))


def _judged(status: int, retry_after: str, latency_ms: int) -> Outcome:
    pause = retry_after_seconds(retry_after, utc_now())
    outcome = _answered(status, pause, latency_ms)
    return replace(outcome, throttled=status in THROTTLING or pause is not None, pause_seconds=pause)


def _answered(status: int, pause: float | None, latency_ms: int) -> Outcome:
    if 200 <= status < 300:
        return Outcome(latency_ms, status)
    if 300 <= status < 400:
        return Outcome(latency_ms, status, "redirect", f"HTTP {status}: redirects are not followed")
    if status == GONE:
        return Outcome(latency_ms, status, "gone", "HTTP 410: the endpoint is disabled", retryable=False)
    wait = pause if status == TOO_MANY_REQUESTS or status >= 500 else None
    wait_ms = round(min(wait or 0.0, LONGEST_WAIT_SECONDS) * 1000)
    return Outcome(latency_ms, status, f"http_{status}", f"HTTP {status}", retry_after_ms=wait_ms)


async def _beginning(content: aiohttp.StreamReader) -> bytes:
    """Read the beginning of a body, however small the pieces are that it comes in, or what came before it broke off."""
    begun = b""
    try:
        async with asyncio.timeout(READ_SECONDS):
            while len(begun) < READ_BYTES and (piece := await content.read(READ_BYTES - len(begun))):
                begun += piece
    except (aiohttp.ClientError, OSError, TimeoutError):
        pass
    return begun


def _elapsed_ms(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
