"""The operator's unblocker: a proxy that makes requests of spiders as sites want them; its key stays with the worker.

A request goes to it as to any HTTP proxy: `http` with the whole URL in its first line, `https` through CONNECT, where
the unblocker shows a certificate of its own for the site. It is told who asks by `Proxy-Authorization: Basic`, and the
country by the name in there. What it answers is the answer of the site; 407 says that it does not know us.
"""

import asyncio
import contextlib
import re
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

from services.runtime.networks import Networks, refusal
from services.runtime.sessions import session_over
from services.runtime.settings import Settings
from services.workers.spiders.frames import MOST_ROUTED, RoutedAnswer, RoutedRequest

ANSWER_SECONDS = 180.0  # for a whole answer: unblockers try several ways
CHUNK_BYTES = 64 * 1024
MAX_HEADER_BYTES = 32 * 1024
MAX_HEADERS = 256
AWAY = 407
WEB = re.compile(r"https?://[!-~]+")
# What holds between two ends of a connection and not between spider and site; lengths are told by whoever sends.
OF_CONNECTIONS = frozenset(
    (
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
    )
)
UNSAID = ("Accept", "Accept-Encoding", "User-Agent", "Content-Type")  # unless the spider says them


class NotRouted(Exception):
    """A request is not made, and why."""


@dataclass(frozen=True, slots=True)
class Account:
    """Where the unblocker is, and who we are there."""

    url: str
    user: str = ""
    country_user: str = ""  # the user for a request from a country, with {country} in it
    key: str = field(default="", repr=False)

    def authorization(self, country: str) -> str:
        """Return the header's value; raises NotRouted where it cannot be told a country."""
        if not country:
            return aiohttp.encode_basic_auth(self.user, self.key)
        if not self.country_user:
            raise NotRouted(
                "it cannot be told a country: leave out proxy_country, or set JOBLEDGER_UNBLOCKER_COUNTRY_USER"
            )
        return aiohttp.encode_basic_auth(self.country_user.replace("{country}", country.lower()), self.key)


class Unblocker:
    """Makes requests of all spiders of a worker."""

    def __init__(
        self,
        account: Account,
        session: aiohttp.ClientSession,
        allowed: Networks,
        trusted: ssl.SSLContext,
        most_bytes: int,
    ) -> None:
        self._account, self._session, self._allowed = account, session, allowed
        self._trusted, self._most_bytes = trusted, most_bytes

    async def fetch(self, asked: RoutedRequest, country: str) -> RoutedAnswer:
        """Make one request, without redirects; whatever goes wrong comes back as an error."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._check(asked.url)
                return await self._once(asked, self._account.authorization(country))
        except TimeoutError:
            return RoutedAnswer(asked.number, error=f"no whole answer within {ANSWER_SECONDS:g} s")
        except aiohttp.ClientHttpProxyError as error:
            return RoutedAnswer(asked.number, error=_refused(error.status))
        except NotRouted as error:
            return RoutedAnswer(asked.number, error=str(error))
        except (aiohttp.ClientError, OSError, ValueError) as error:  # their words may have the address in them
            return RoutedAnswer(asked.number, error=type(error).__name__)

    async def _once(self, asked: RoutedRequest, authorization: str) -> RoutedAnswer:
        proof = {"Proxy-Authorization": authorization}
        tunnelled = asked.url.startswith("https:")
        headers = [(name, value) for name, value in asked.headers if name.lower() not in OF_CONNECTIONS]
        async with self._session.request(
            asked.method,
            URL(asked.url, encoded=True),
            headers=headers if tunnelled else [*headers, *proof.items()],
            data=asked.body or None,
            proxy=self._account.url,
            proxy_headers=proof if tunnelled else None,
            allow_redirects=False,
            skip_auto_headers=UNSAID,
            ssl=self._trusted,
        ) as response:
            if response.status == AWAY:
                raise NotRouted(_refused(AWAY))
            body = bytearray()
            async for chunk in response.content.iter_chunked(CHUNK_BYTES):
                body += chunk
                if len(body) > self._most_bytes:
                    raise NotRouted(f"the answer is larger than {self._most_bytes} bytes")
            come = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers]
            kept = [(name, value) for name, value in come if name.lower() not in OF_CONNECTIONS]
            return RoutedAnswer(asked.number, response.status, kept, bytes(body))

    async def _check(self, url: str) -> None:
        """Refuse what a spider may not reach by itself: the unblocker may stand in our own network.

        A name that is unknown here is left to the unblocker, which may know it.
        """
        host = URL(url, encoded=True).host if WEB.fullmatch(url) else None
        if not host:
            raise NotRouted("only http and https URLs are routed")
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, None)
        except OSError:
            return
        for *_, address in found:
            if reason := refusal(str(address[0]), allowed=self._allowed):
                raise NotRouted(f"{host}: {reason}")


def _refused(status: int) -> str:
    if status == AWAY:
        return "it does not know the worker (407): the operator checks JOBLEDGER_UNBLOCKER_USER and ..._KEY"
    return f"it opened no tunnel to the site: status {status}"


@contextlib.asynccontextmanager
async def unblocker(settings: Settings) -> AsyncIterator[Unblocker | None]:
    """Have the unblocker of the settings, or none."""
    if not settings.unblocker_url:
        yield None
        return
    account = Account(
        settings.unblocker_url, settings.unblocker_user, settings.unblocker_country_user, settings.unblocker_key
    )
    trusted = ssl.create_default_context()
    if settings.unblocker_ca:
        await asyncio.to_thread(trusted.load_verify_locations, settings.unblocker_ca)
    async with session_over(
        aiohttp.TCPConnector(limit=MOST_ROUTED * settings.worker_slots),
        auto_decompress=False,
        max_header_bytes=MAX_HEADER_BYTES,
        max_headers=MAX_HEADERS,
    ) as session:
        yield Unblocker(account, session, settings.allowed_networks, trusted, settings.max_body_bytes)
