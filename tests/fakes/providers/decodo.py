"""Decodo Web Scraping API, after "Web Scraping API parameters" and the examples of the API's public repository."""

from collections.abc import Mapping
from typing import Literal

from aiohttp import web

from tests.fakes.providers.frame import SECRETS, FakeProvider, Refused, SitePage, Strict, basic

LOCATIONS = ("United States", "United Kingdom", "Germany", "Netherlands")


class _Scrape(Strict):
    url: str
    target: Literal["universal"] = "universal"
    geo: str | None = None
    headless: Literal["html", "png"] | None = None
    markdown: bool = False
    headers: dict[str, str] | None = None
    force_headers: bool = False
    cookies: dict[str, str] | None = None
    force_cookies: bool = False
    session_id: str | None = None


class FakeDecodo(FakeProvider):
    """POST /v2/scrape with user and password."""

    name, path, shape = "decodo", "/v2/scrape", _Scrape
    authorization = basic(SECRETS["username"], SECRETS["password"])

    def checked(self, body: _Scrape) -> None:
        """A location that exists; headers and cookies are dropped unless they are forced."""
        if body.geo is not None and body.geo not in LOCATIONS:
            raise Refused(f"unknown geo {body.geo!r}")
        if bool(body.headers) != body.force_headers or bool(body.cookies) != body.force_cookies:
            raise Refused("headers or cookies without their force")

    def answered(self, body: _Scrape, page: SitePage) -> web.Response:
        """One result."""
        headers = {name.lower(): value for name, value in page.headers.items()}
        result = {
            "content": "# hello" if body.markdown else page.body,
            "headers": headers,
            "cookies": [],
            "status_code": page.status,
            "task_id": "7434928397127555073",
            "created_at": "2026-01-01 00:00:00",
            "updated_at": "2026-01-01 00:00:01",
        }
        return web.json_response({"results": [result]})

    def refusal(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
        """An object with a message."""
        return web.json_response({"status": "failed", "message": message}, status=status, headers=headers)
