"""Nimble Web API, after "Real-time URL request", "General Params", "Custom Headers & Cookies" and "Response codes"."""

from collections.abc import Mapping
from typing import Any, Literal

from aiohttp import web

from tests.fakes.providers.frame import SECRETS, FakeProvider, Refused, SitePage, Strict, basic, two_letters


class _Request(Strict):
    url: str
    method: str = "GET"
    parse: bool = False
    render: bool = False
    format: Literal["json", "html"] = "json"
    markdown: bool = False
    country: str | None = None
    headers: dict[str, str] | None = None
    cookies: str | None = None


class FakeNimble(FakeProvider):
    """POST /api/v1/realtime/web with user and password."""

    name, path, shape = "nimble", "/api/v1/realtime/web", _Request
    authorization = basic(SECRETS["username"], SECRETS["password"])

    def checked(self, body: _Request) -> None:
        """Parsing needs JSON."""
        if body.parse and body.format != "json":
            raise Refused("parse needs format json")
        two_letters(body.country, upper=True)

    def answered(self, body: _Request, page: SitePage) -> web.Response:
        """The HTML, and what was made of it."""
        answer: dict[str, Any] = {
            "status": "success",
            "url": body.url,
            "html_content": page.body,
            "status_code": page.status,
            "headers": dict(page.headers),
        }
        if body.parse:
            answer["parsing"] = {"status": "success", "entities": {"Product": [{"name": "Lamp"}]}}
        if body.markdown:
            answer["markdown"] = "# hello"
        return web.json_response(answer)

    def refusal(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
        """An object with a message."""
        return web.json_response({"status": "failed", "msg": message}, status=status, headers=headers)
