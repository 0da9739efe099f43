"""Access tokens of a service account: a signed claim is exchanged for one, which is used until shortly before its end.

As documented in "Using OAuth 2.0 for Server to Server Applications" (HTTP/REST); RFC 7523 is the grant.
"""

import base64
import time
from collections.abc import Callable

import msgspec
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from yarl import URL

from services.writers.warehouses.bigquery.settings import ServiceAccount
from services.writers.warehouses.calls import Calls
from services.writers.warehouses.warehouse import Refusal
from services.writers.writer import DestinationDown

SCOPE = "https://www.googleapis.com/auth/bigquery"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
CLAIM_SECONDS = 3600  # the longest that is taken
EARLY_SECONDS = 60.0  # before its end that a token is not used any more
OK = 200


class _Token(msgspec.Struct):
    access_token: str
    expires_in: float  # seconds


class Tokens:
    """Holds the token of one account."""

    def __init__(self, account: ServiceAccount, calls: Calls, clock: Callable[[], float] = time.time) -> None:
        self._account = account
        self._calls = calls
        self._clock = clock
        self._token = ""
        self._until = 0.0

    async def get(self) -> str:
        """Return a token that is good for a while yet; raise Refusal where the account's key is not taken."""
        if self._clock() >= self._until:
            asked_at = self._clock()
            given = await self._asked(int(asked_at))
            self._token, self._until = given.access_token, asked_at + given.expires_in - EARLY_SECONDS
        return self._token

    def forget(self) -> None:
        """Ask for another token the next time: this one was refused."""
        self._until = 0.0

    async def _asked(self, at_seconds: int) -> _Token:
        form = {"grant_type": GRANT, "assertion": assertion(self._account, at_seconds)}
        answer = await self._calls.call("POST", URL(self._account.token_uri), headers={}, body=form)
        if answer.status >= 500 or answer.status == 429:
            raise DestinationDown(f"no token from Google: HTTP {answer.status}")
        try:
            if answer.status == OK:
                return msgspec.json.decode(answer.body, type=_Token)
        except msgspec.DecodeError:
            pass
        raise Refusal("Google gives no token for the service account: is its key still there, and the account enabled?")


def assertion(account: ServiceAccount, at_seconds: int) -> str:
    """Return the claim of an account, signed."""
    header = {"alg": "RS256", "typ": "JWT", "kid": account.private_key_id}
    claims = {
        "iss": account.client_email,
        "scope": SCOPE,
        "aud": account.token_uri,
        "iat": at_seconds,
        "exp": at_seconds + CLAIM_SECONDS,
    }
    signed = b".".join(_encoded(msgspec.json.encode(part)) for part in (header, claims))
    return b".".join((signed, _encoded(account.key().sign(signed, PKCS1v15(), SHA256())))).decode()


def _encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
