"""Plain HTTP: the provider that asks the site itself."""

import asyncio
import time
from collections.abc import Mapping
from typing import Self

import aiohttp
from yarl import URL

from services.runtime.addresses import address_refused, checked_connector
from services.runtime.networks import Networks
from services.runtime.sessions import session_over
from services.runtime.settings import Settings
from services.runtime.time import utc_now
from services.workers.providers.answers import error_of_status, kept_headers, web_url
from services.workers.providers.protocol import Fetched, FetchRequest, FetchResult, ProviderError

MAX_REDIRECTS = 10
MAX_CONNECTIONS = 100
CHUNK_BYTES = 64 * 1024
MAX_HEADER_BYTES = 32 * 1024  # sites have policies and links of more than 8 KiB, which browsers take
MAX_HEADERS = 256
REDIRECTS = frozenset((301, 302, 303, 307, 308))
DEFAULT_HEADERS = {
    "User-Agent": "jobledger/0.1 (+direct)",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "en,*;q=0.5",
}
ACCEPTS = {"json": {"Accept": "application/json"}}  # by output format
ORIGIN_BOUND = frozenset(("authorization", "cookie", "proxy-authorization"))  # not carried to another origin


class DirectProvider:
    """One client session for all pages; it keeps no cookies, because its pages belong to many orgs."""

    def __init__(self, *, max_body_bytes: int, allowed_networks: Networks) -> None:
        self._max_body_bytes = max_body_bytes
        self._allowed = allowed_networks
        self._session: aiohttp.ClientSession | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Build the provider that the settings ask for."""
        return cls(max_body_bytes=settings.max_body_bytes, allowed_networks=settings.allowed_networks)

    async def start(self) -> None:
        """Open the session."""
        self._session = session_over(
            checked_connector(self._allowed, limit=MAX_CONNECTIONS),
            max_header_bytes=MAX_HEADER_BYTES,
            max_headers=MAX_HEADERS,
        )

    async def close(self) -> None:
        """Close the session and its connections."""
        if self._session:
            await self._session.close()
            self._session = None

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Fetch one page with its redirects; every failure comes back as a ProviderError."""
        started = time.monotonic()
        try:
            async with asyncio.timeout(request.timeout_seconds):
                return await self._follow(request, started)
        except TimeoutError:
            message = f"no whole answer within {request.timeout_seconds:g} s"
            return ProviderError("timeout", message, True, latency_ms=_elapsed_ms(started))
        except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError, ValueError) as error:
            return ProviderError("bad_url", str(error) or "not a URL", latency_ms=_elapsed_ms(started))
        except (aiohttp.ClientError, OSError) as error:
            if refused := address_refused(error):
                return ProviderError("address_refused", str(refused), latency_ms=_elapsed_ms(started))
            message = f"{type(error).__name__}: {error}"[:500]
            return ProviderError("connection", message, True, latency_ms=_elapsed_ms(started))

    async def _follow(self, request: FetchRequest, started: float) -> FetchResult:
        url = web_url(request.url)
        headers = {**DEFAULT_HEADERS, **ACCEPTS.get(request.settings.output_format, {}), **request.headers}
        seen: set[URL] = set()
        while url not in seen and len(seen) <= MAX_REDIRECTS:
            seen.add(url)
            answer = await self._once(url, headers, started)
            if not isinstance(answer, URL):
                return answer
            if answer.origin() != url.origin():
                headers = {name: value for name, value in headers.items() if name.lower() not in ORIGIN_BOUND}
            url = answer
        message = f"{url} comes round again" if url in seen else f"more than {MAX_REDIRECTS} redirects"
        return ProviderError("redirect_loop", message, latency_ms=_elapsed_ms(started))

    async def _once(self, url: URL, headers: Mapping[str, str], started: float) -> FetchResult | URL:
        """Make one request: a page, an error, or where it redirects to."""
        if self._session is None:
            raise RuntimeError("the direct provider is not started: await start() before fetch()")
        async with self._session.get(url, headers=headers, allow_redirects=False) as response:
            location = response.headers.get("Location", "")
            if response.status in REDIRECTS and location:
                return web_url(str(url.join(URL(location))))
            error = error_of_status(response.status, response.headers, utc_now())
            if error:
                return ProviderError(
                    error.error_type,
                    error.message,
                    error.retryable,
                    error.status_code,
                    error.retry_after_seconds,
                    _elapsed_ms(started),
                )
            body = await self._body(response)
            if body is None:
                message = f"the page is larger than {self._max_body_bytes} bytes"
                return ProviderError("too_large", message, False, response.status, latency_ms=_elapsed_ms(started))
            return Fetched(
                status=response.status,
                content_type=response.headers.get("Content-Type", ""),
                body=body,
                final_url=str(url),
                latency_ms=_elapsed_ms(started),
                headers=kept_headers(response.headers),
            )

    async def _body(self, response: aiohttp.ClientResponse) -> bytes | None:
        """Read the body as it comes, decompressed; None once it is over the limit."""
        if (response.content_length or 0) > self._max_body_bytes:
            return None
        body = bytearray()
        async for chunk in response.content.iter_chunked(CHUNK_BYTES):
            body += chunk
            if len(body) > self._max_body_bytes:
                return None
        return bytes(body)


def _elapsed_ms(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
