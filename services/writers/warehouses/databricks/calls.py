"""HTTP calls to one workspace: connected to checked addresses only, redirects not followed, waited for as asked."""

import asyncio
import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import aiohttp
import msgspec
from msgspec import Struct
from yarl import URL

from services.runtime.addresses import AddressRefused, CheckedResolver, literal_refusal
from services.runtime.retry_after import retry_after_seconds
from services.writers.warehouses.databricks.faults import http_fault
from services.writers.warehouses.warehouse import Refusal
from services.writers.writer import DestinationDown

CALL_SECONDS = 90.0  # more than a statement is waited for
KEPT_OPEN_SECONDS = 30.0
MAX_ANSWER_BYTES = 32 * 1024 * 1024  # results within an answer are at most 25 MiB
LONGEST_WAIT_SECONDS = 30.0  # that is waited here for a workspace that is too busy
WAITS = 3
TOO_BUSY = frozenset({429, 503})


class _Error(Struct):
    error_code: str = ""


class Calls:
    """One client session."""

    def __init__(self, base: URL, *, allow_private: bool) -> None:
        self._base = base
        self._refused = literal_refusal(base, allow_private=allow_private)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=CheckedResolver(allow_private=allow_private),
                use_dns_cache=False,
                keepalive_timeout=KEPT_OPEN_SECONDS,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=CALL_SECONDS),
            headers={"User-Agent": "jobledger/0.1"},
            trust_env=False,
        )

    async def close(self) -> None:
        """Close the session."""
        await self._session.close()

    async def get(self, path: str, token: str) -> bytes:
        """Return what a path answers."""
        return await self._asked("GET", path, headers=_bearer(token))

    async def post(self, path: str, token: str, body: object) -> bytes:
        """Post JSON."""
        headers = {**_bearer(token), "Content-Type": "application/json"}
        return await self._asked("POST", path, headers=headers, data=msgspec.json.encode(body))

    async def form(self, path: str, fields: Mapping[str, str], *, user: str, password: str) -> bytes:
        """Post a form."""
        basic = base64.b64encode(f"{user}:{password}".encode()).decode()
        return await self._asked("POST", path, data=dict(fields), headers={"Authorization": f"Basic {basic}"})

    async def _asked(self, method: str, path: str, **request: Any) -> bytes:
        """Ask until there is an answer that is not that the workspace is too busy."""
        for _ in range(WAITS):
            status, wait, body = await self._once(method, path, **request)
            if 200 <= status < 300:
                return body
            if status not in TOO_BUSY or wait is None or wait > LONGEST_WAIT_SECONDS:
                break
            await asyncio.sleep(wait)
        raise http_fault(status, _code(body))

    async def _once(self, method: str, path: str, **request: Any) -> tuple[int, float | None, bytes]:
        if self._refused:
            raise Refusal("host is at an address that is not public")
        url = self._base.join(URL(path))
        try:
            async with self._session.request(method, url, allow_redirects=False, **request) as response:
                body = await response.content.read(MAX_ANSWER_BYTES)
                while not response.content.at_eof() and len(body) < MAX_ANSWER_BYTES:
                    body += await response.content.read(MAX_ANSWER_BYTES - len(body))
                wait = retry_after_seconds(response.headers.get("Retry-After", ""), datetime.now(UTC))
                return response.status, wait, body
        except TimeoutError:
            raise DestinationDown(f"Databricks did not answer within {CALL_SECONDS:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            if isinstance(error, AddressRefused) or isinstance(error.__cause__, AddressRefused):
                raise Refusal("host is at an address that is not public") from None
            raise DestinationDown(f"Databricks is not reached: {type(error).__name__}") from None


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _code(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=_Error).error_code
    except msgspec.DecodeError:
        return ""
