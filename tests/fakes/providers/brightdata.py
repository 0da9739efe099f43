"""Bright Data Web Unlocker, after "Unlock website" (API reference) and "Web Unlocker API error codes"."""

from collections.abc import Mapping
from typing import Literal

from aiohttp import web

from tests.fakes.providers.frame import SECRETS, FakeProvider, Refused, SitePage, Strict, two_letters

OWN = (400, 401, 404, 405, 415)  # refused before the unlocker is reached, with a status of their own


class _Unlock(Strict):
    zone: str
    url: str
    format: Literal["raw", "json"]
    method: str = "GET"
    country: str | None = None
    data_format: Literal["markdown", "screenshot"] | None = None


class FakeBrightData(FakeProvider):
    """POST /request with a bearer token; once it is let in everything is 200, and `x-brd-*` tells errors."""

    name, path, shape = "brightdata", "/request", _Unlock
    authorization = f"Bearer {SECRETS['apiKey']}"

    def checked(self, body: _Unlock) -> None:
        """A zone that exists, a country in lower case."""
        if body.zone != SECRETS["zone"]:
            raise Refused(f"zone {body.zone!r} not found")
        two_letters(body.country, upper=False)

    def answered(self, body: _Unlock, page: SitePage) -> web.Response:
        """Status, headers and body of the page."""
        headers = {name.lower(): value for name, value in page.headers.items()}
        text = "# hello" if body.data_format == "markdown" else page.body
        answer = {"status_code": page.status, "headers": headers, "body": text}
        return web.json_response(answer, headers={"x-brd-status-code": str(page.status)})

    def refusal(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
        """Plain text with its own status before the unlocker, afterwards 200 with the error in headers."""
        if status in OWN:
            return web.Response(text=message, status=status, headers=headers)
        told = {"x-brd-status-code": str(status), "x-brd-error": message, "x-brd-error-code": f"code_{status}"}
        return web.json_response(
            {"status_code": status, "headers": told, "body": ""}, headers={**told, **dict(headers or {})}
        )
