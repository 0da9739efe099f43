"""Zyte API, after "Zyte API reference" (extract), "HTTP requests", "Browser automation" and "Error handling"."""

import base64
import uuid
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from tests.fakes.providers.frame import SECRETS, FakeProvider, Refused, SitePage, Strict, basic, two_letters

TYPES = {
    400: "/request/invalid",
    401: "/auth/key-not-found",
    403: "/auth/account-suspended",
    429: "/limits/over-user-limit",
    451: "/download/domain-forbidden",
    500: "/api/internal-error",
    503: "/limits/over-global-limit",
    520: "/download/temporary-error",
    521: "/download/internal-error",
}


class _Header(Strict):
    name: str
    value: str


class _Cookie(Strict):
    name: str
    value: str
    domain: str


class _RequestHeaders(Strict):
    referer: str


class _Session(Strict):
    id: str


class _Extract(Strict, rename="camel"):
    url: str
    http_response_body: bool = False
    http_response_headers: bool = False
    browser_html: bool = False
    geolocation: str | None = None
    custom_http_request_headers: list[_Header] | None = None
    request_headers: _RequestHeaders | None = None
    request_cookies: list[_Cookie] | None = None
    session: _Session | None = None


class FakeZyte(FakeProvider):
    """POST /v1/extract with the API key as the user of basic auth."""

    name, path, shape = "zyte", "/v1/extract", _Extract
    authorization = basic(SECRETS["apiKey"], "")

    def checked(self, body: _Extract) -> None:
        """One output; custom headers only without a browser, Referer only with one; sessions are UUIDs of version 4."""
        if body.http_response_body == body.browser_html:
            raise Refused("ask for one of httpResponseBody and browserHtml")
        if body.browser_html and body.custom_http_request_headers is not None:
            raise Refused("customHttpRequestHeaders does not go with browserHtml")
        if not body.browser_html and body.request_headers is not None:
            raise Refused("requestHeaders does not go with httpResponseBody")
        if any(header.name.lower() == "cookie" for header in body.custom_http_request_headers or []):
            raise Refused("use requestCookies")
        if body.session and uuid.UUID(body.session.id).version != 4:
            raise Refused("session.id is no UUID of version 4")
        two_letters(body.geolocation, upper=True)

    def answered(self, body: _Extract, page: SitePage) -> web.Response:
        """The body in base64 with the site's headers, or the browser's HTML."""
        answer: dict[str, Any] = {"url": body.url, "statusCode": page.status}
        if body.browser_html:
            answer["browserHtml"] = page.body
        else:
            answer["httpResponseBody"] = base64.b64encode(page.body.encode("latin-1")).decode()
            answer["httpResponseHeaders"] = [{"name": name, "value": value} for name, value in page.headers.items()]
        return web.json_response(answer)

    def refusal(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
        """A problem document."""
        problem = {"type": TYPES.get(status, "/other"), "title": "Refused", "status": status, "detail": message}
        return web.json_response(problem, status=status, headers=headers, content_type="application/problem+json")
