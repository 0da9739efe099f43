"""The place that gives out tokens: it takes claims that the one account has signed, and nothing else."""

import base64
import secrets
import time
from functools import cache
from urllib.parse import parse_qs

import msgspec
from aiohttp import web
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.fakes.warehouses.bigquery.shapes import Strict

GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EMAIL = "writer@acme-warehouse.iam.gserviceaccount.com"
CLOCK_SECONDS = 30  # that clocks may differ


@cache
def account_key() -> rsa.RSAPrivateKey:
    """Return the key of the account: one for all tests, as it takes long to make."""
    return rsa.generate_private_key(65537, 2048)


class Claims(Strict):
    """What a claim says."""

    iss: str
    scope: str
    aud: str
    iat: int
    exp: int


class TokenPlace:
    """Gives out tokens, and knows which ones are good."""

    def __init__(self) -> None:
        self.key = account_key()
        self.given: list[str] = []
        self.good: set[str] = set()
        self.lives_seconds = 3600
        self.url = ""

    def key_file(self) -> dict[str, str]:
        """Return what an owner would paste: the file of the account's key."""
        return {
            "type": "service_account",
            "project_id": "acme-warehouse",
            "private_key_id": "0f1e2d3c",
            "private_key": self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
            "client_email": EMAIL,
            "token_uri": self.url,
        }

    async def give(self, request: web.Request) -> web.Response:
        """Exchange a claim for a token."""
        form = parse_qs((await request.read()).decode())
        try:
            self._check(form["grant_type"][0], form["assertion"][0])
        except (KeyError, ValueError, InvalidSignature) as error:
            said = {"error": "invalid_grant", "error_description": f"Invalid JWT: {error}"}
            return web.json_response(said, status=400)
        self.given.append(secrets.token_urlsafe(24))
        self.good.add(self.given[-1])
        given = {"access_token": self.given[-1], "expires_in": self.lives_seconds, "token_type": "Bearer"}
        return web.json_response(given)

    def takes(self, header: str) -> bool:
        """Tell whether a header of a call has a token that is good."""
        return header.startswith("Bearer ") and header.removeprefix("Bearer ") in self.good

    def _check(self, grant: str, assertion: str) -> None:
        signed, _, signature = assertion.rpartition(".")
        self.key.public_key().verify(_bytes(signature), signed.encode(), PKCS1v15(), SHA256())
        header, _, body = signed.partition(".")
        claims = msgspec.json.decode(_bytes(body), type=Claims)
        good = (
            grant == GRANT
            and msgspec.json.decode(_bytes(header))["alg"] == "RS256"
            and claims.iss == EMAIL
            and claims.scope == "https://www.googleapis.com/auth/bigquery"
            and claims.aud == self.url
            and abs(claims.iat - time.time()) <= CLOCK_SECONDS
            and claims.iat < claims.exp <= claims.iat + 3600
        )
        if not good:
            raise ValueError("claims")


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
