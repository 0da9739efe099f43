"""Oxylabs Web Scraper API, after "Realtime", "Proxy Location", "Headers, Cookies, POST" and "Response Codes"."""

from collections.abc import Mapping
from typing import Any, Literal

from aiohttp import web
from msgspec import field

from tests.fakes.providers.frame import SECRETS, FakeProvider, Refused, SitePage, Strict, basic

LOCATIONS = ("United States", "United Kingdom", "Germany", "Netherlands")
CONTEXT = {"force_headers": bool, "headers": dict, "force_cookies": bool, "cookies": list, "session_id": str}


class _Context(Strict):
    key: str
    value: Any


class _Query(Strict):
    source: Literal["universal"]
    url: str
    geo_location: str | None = None
    render: Literal["html", "png"] | None = None
    markdown: bool = False
    context: list[_Context] = field(default_factory=list)


class FakeOxylabs(FakeProvider):
    """POST /v1/queries with user and password."""

    name, path, shape = "oxylabs", "/v1/queries", _Query
    authorization = basic(SECRETS["username"], SECRETS["password"])

    def checked(self, body: _Query) -> None:
        """A location of the list; keys of the context that exist, with values of their type."""
        if body.geo_location is not None and body.geo_location not in LOCATIONS:
            raise Refused(f"unsupported geo_location {body.geo_location!r}")
        for entry in body.context:
            if entry.key not in CONTEXT or not isinstance(entry.value, CONTEXT[entry.key]):
                raise Refused(f"invalid context {entry.key!r}")

    def answered(self, body: _Query, page: SitePage) -> web.Response:
        """One result."""
        result = {
            "content": "# hello" if body.markdown else page.body,
            "type": "markdown" if body.markdown else "raw",
            "created_at": "2026-01-01 00:00:00",
            "updated_at": "2026-01-01 00:00:01",
            "page": 1,
            "url": body.url,
            "job_id": "7434928397127555073",
            "status_code": page.status,
        }
        return web.json_response({"results": [result], "job": {"status": "done"}})

    def refusal(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
        """An object with a message."""
        return web.json_response({"message": message}, status=status, headers=headers)
