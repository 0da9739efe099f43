"""Nimble Web API, realtime: `POST /api/v1/realtime/web`, after "Real-time URL request", "General Params"."""

from collections.abc import Mapping

import msgspec

from services.workers.providers.dialect import (
    HTML,
    JSON,
    MARKDOWN,
    Answer,
    Ask,
    bad_answer,
    basic,
    cookies_of,
    page,
    parsed,
    refusal,
    site_headers,
)
from services.workers.providers.protocol import FetchRequest, FetchResult, ProviderError

SUCCESS = "success"


class _Fetched(msgspec.Struct):
    status: str
    html_content: str | None = None
    markdown: str | None = None
    parsing: dict[str, object] | None = None
    status_code: int = 200
    headers: dict[str, str | list[str]] = {}
    url: str = ""
    msg: str = ""


class _Message(msgspec.Struct):
    msg: str = ""
    message: str = ""


class Nimble:
    """Only successful requests are charged."""

    name = "nimble"

    def ask(self, request: FetchRequest, secret: Mapping[str, str]) -> Ask:
        """Ask for JSON around the HTML, and for what Nimble makes of it where the node wants that."""
        settings = request.settings
        headers, cookies = cookies_of(request.headers)
        body: dict[str, object] = {
            "url": request.url,
            "method": "GET",
            "format": "json",
            "render": settings.render_js,
            "parse": settings.output_format == "json",
        }
        if settings.output_format == "markdown":
            body["markdown"] = True
        if settings.country:
            body["country"] = settings.country.upper()
        if headers:
            body["headers"] = headers
        if cookies:
            body["cookies"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        return Ask("/api/v1/realtime/web", basic(secret["username"], secret["password"]), body)

    def read(self, answer: Answer) -> FetchResult:
        """Read what was asked for: markdown or parsed entities where the answer has them, or else the HTML."""
        if answer.status != 200:
            told = parsed(_Message, answer.body) or _Message()
            return refusal(self.name, answer, told.msg or told.message)
        found = parsed(_Fetched, answer.body)
        if found is None:
            return bad_answer(self.name, answer, "status and html_content")
        if found.status != SUCCESS:
            return ProviderError("provider_failed", f"nimble could not get the page: {found.msg}", True, answer.status)
        body, content_type = _content(found)
        if body is None:
            return bad_answer(self.name, answer, "html_content")
        headers = site_headers(found.headers)
        if content_type == HTML:
            content_type = headers.get("content-type", HTML)
        return page(
            answer,
            status=found.status_code,
            body=body,
            headers=headers,
            content_type=content_type,
            final_url=found.url,
        )


def _content(found: _Fetched) -> tuple[bytes | str | None, str]:
    if found.markdown is not None:
        return found.markdown, MARKDOWN
    if found.parsing is not None:
        return msgspec.json.encode(found.parsing), JSON
    return found.html_content, HTML
