"""Providers behind an HTTP API: one POST of JSON with the org's credential, in the dialect of the provider."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace

import aiohttp
from yarl import URL

from services.ledger.provider_settings import unsupported
from services.runtime.metrics import count
from services.runtime.sessions import session_over
from services.runtime.time import utc_now
from services.workers.providers.answers import web_url
from services.workers.providers.dialect import Answer, Ask, Dialect, without
from services.workers.providers.protocol import Credentials, Fetched, FetchRequest, FetchResult, ProviderError

MAX_CONNECTIONS = 100
CHUNK_BYTES = 64 * 1024
ENVELOPE = 3  # a page inside JSON takes up to this many times its own size
ENVELOPE_BYTES = 64 * 1024  # and whatever else the answer holds
USER_AGENT = "jobledger/0.1 (+provider)"


class ApiProvider:
    """Calls one provider for all orgs, each with its own credential, which is held for the time of the call only."""

    def __init__(self, dialect: Dialect, base_url: str, credentials: Credentials, *, max_body_bytes: int) -> None:
        self._dialect = dialect
        self._base_url = base_url.rstrip("/")
        self._credentials = credentials
        self._max_body_bytes = max_body_bytes
        self._session: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        """Open the session."""
        connector = aiohttp.TCPConnector(limit=MAX_CONNECTIONS)
        self._session = session_over(connector, User_Agent=USER_AGENT, Accept="application/json")

    async def close(self) -> None:
        """Close the session and its connections."""
        if self._session:
            await self._session.close()
            self._session = None

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Fetch one page through the provider; every failure of it comes back as a ProviderError."""
        started = time.monotonic()
        name = self._dialect.name
        try:
            async with asyncio.timeout(request.timeout_seconds):
                result = await self._call(request)
        except TimeoutError:
            result = ProviderError("timeout", f"no whole answer from {name} within {request.timeout_seconds:g} s", True)
        except (aiohttp.ClientError, OSError) as error:
            result = ProviderError("connection", f"{name}: {type(error).__name__}: {error}"[:500], True)
        outcome = result.error_type if isinstance(result, ProviderError) else "fetched"
        count("provider_calls", provider=name, outcome=outcome, billed="yes" if result.billed else "no")
        return replace(result, latency_ms=round((time.monotonic() - started) * 1000))

    async def _call(self, request: FetchRequest) -> FetchResult:
        try:
            url = str(web_url(request.url))
        except ValueError as error:
            return ProviderError("bad_url", str(error) or "not a URL")
        faults = unsupported(self._dialect.name, request.settings)
        if faults:  # of a document that was saved before there was such a check
            return ProviderError("provider_request", "; ".join(f"{fault.path}: {fault.message}" for fault in faults))
        secret = await self._credentials.secret(request.org_id, self._dialect.name)
        if isinstance(secret, ProviderError):
            return secret
        request = replace(request, url=url)
        ask = self._dialect.ask(request, secret)
        result = await self._answered(ask, request)
        if not isinstance(result, ProviderError):
            return self._bounded(result)
        if result.error_type == "provider_auth":
            self._credentials.forget(request.org_id, self._dialect.name)
        return replace(result, message=without(_secrets(ask, secret), result.message))

    async def _answered(self, ask: Ask, request: FetchRequest) -> FetchResult:
        """Make the call; a redirect is not followed, since it would carry the credential elsewhere."""
        if self._session is None:
            raise RuntimeError(f"the provider {self._dialect.name} is not started: await start() before fetch()")
        headers = {"Authorization": ask.authorization}
        target = URL(self._base_url + ask.path)
        async with self._session.post(target, json=ask.body, headers=headers, allow_redirects=False) as response:
            body = await self._body(response)
            if body is None:
                return self._too_large()
            return self._dialect.read(Answer(response.status, response.headers, body, request, utc_now()))

    async def _body(self, response: aiohttp.ClientResponse) -> bytes | None:
        """Read the body as it comes, decompressed; None once it cannot hold a page within the limit any more."""
        limit = ENVELOPE * self._max_body_bytes + ENVELOPE_BYTES
        body = bytearray()
        async for chunk in response.content.iter_chunked(CHUNK_BYTES):
            body += chunk
            if len(body) > limit:
                return None
        return bytes(body)

    def _bounded(self, page: Fetched) -> FetchResult:
        return self._too_large(page.status, page.billed) if len(page.body) > self._max_body_bytes else page

    def _too_large(self, status: int = 0, billed: bool = True) -> ProviderError:
        message = f"the page is larger than {self._max_body_bytes} bytes"
        return ProviderError("too_large", message, False, status, billed=billed)


def _secrets(ask: Ask, secret: Mapping[str, str]) -> tuple[str, ...]:
    """Return every form in which the credential went over the wire."""
    return (*secret.values(), ask.authorization, ask.authorization.partition(" ")[2])
