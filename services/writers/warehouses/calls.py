"""Calls to a customer's service over HTTP: they go only to addresses that were checked, and follow no redirect."""

import io
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
from yarl import URL

from services.runtime.addresses import address_refused, checked_connector
from services.runtime.networks import Networks
from services.runtime.sessions import session_over
from services.writers.warehouses.warehouse import Refusal
from services.writers.writer import DestinationDown

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 120.0  # for one whole call
READ_BYTES = 16 * 1024 * 1024  # of an answer: none that is asked for comes near it


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service answered; header names in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Calls:
    """One client session. Refusal: the address may not be reached; DestinationDown: there was no whole answer."""

    def __init__(self, *, allowed: Networks, answer_seconds: float = ANSWER_SECONDS) -> None:
        self._allowed = allowed
        self._answer_seconds = answer_seconds
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        if self._session:
            await self._session.close()
            self._session = None

    async def call(
        self,
        method: str,
        url: URL,
        *,
        headers: Mapping[str, str],
        body: bytes | Mapping[str, str] | aiohttp.FormData | None = None,
    ) -> Answer:
        """Send a body, a mapping as a form, and return what came back, whatever its status is."""
        try:
            async with self._opened().request(
                method,
                url,
                headers=headers,
                data=io.BytesIO(body) if isinstance(body, bytes) else body,
                allow_redirects=False,
            ) as response:
                return Answer(response.status, response.headers, await _read(response))
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            if address_refused(error):  # its address is not told: that of a name inside would be
                raise Refusal(f"the address of the destination may not be reached: {url.host} is not public") from error
            raise DestinationDown(f"no whole answer from {url.host}: {type(error).__name__}") from error

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = session_over(
                checked_connector(self._allowed),
                timeout=aiohttp.ClientTimeout(total=self._answer_seconds, sock_connect=CONNECT_SECONDS),
                User_Agent="jobledger/0.1 (+warehouse)",
            )
        return self._session


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """Read a whole body, or raise what a broken connection would where it is too long."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > READ_BYTES:
            raise aiohttp.ClientPayloadError("the answer is too long")
    return bytes(body)
