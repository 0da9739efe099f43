"""Zyte API: `POST /v1/extract`, after "Zyte API reference", "HTTP requests", "Browser automation", "Error handling"."""

import base64
import binascii
import uuid
from collections.abc import Mapping

import msgspec
from yarl import URL

from services.workers.providers.dialect import (
    HTML,
    Answer,
    Ask,
    bad_answer,
    basic,
    cookies_of,
    page,
    parsed,
    refusal,
    session_of,
    site_headers,
)
from services.workers.providers.protocol import FetchRequest, FetchResult, ProviderError

UNAVAILABLE_FOR_LEGAL_REASONS = 451


class _Header(msgspec.Struct):
    name: str
    value: str


class _Extracted(msgspec.Struct, rename="camel"):
    url: str = ""
    status_code: int = 200
    http_response_body: str | None = None  # base64
    http_response_headers: list[_Header] = []
    browser_html: str | None = None


class _Problem(msgspec.Struct):
    type: str = ""
    title: str = ""
    detail: str | None = None


class Zyte:
    """Answers of the site, 404 and the like included, are successes and charged; what is no success costs nothing."""

    name = "zyte"

    def ask(self, request: FetchRequest, secret: Mapping[str, str]) -> Ask:
        """Ask for the body as the site sent it, or for the HTML of a browser."""
        settings = request.settings
        headers, cookies = cookies_of(request.headers)
        body: dict[str, object] = {"url": request.url}
        if settings.render_js:
            body["browserHtml"] = True
            referer = next((value for name, value in headers.items() if name.lower() == "referer"), "")
            if referer:
                body["requestHeaders"] = {"referer": referer}
        else:
            body |= {"httpResponseBody": True, "httpResponseHeaders": True}
            if headers:
                body["customHttpRequestHeaders"] = [{"name": name, "value": value} for name, value in headers.items()]
        if cookies:
            domain = URL(request.url).host or ""
            body["requestCookies"] = [
                {"name": name, "value": value, "domain": domain} for name, value in cookies.items()
            ]
        if settings.country:
            body["geolocation"] = settings.country.upper()
        if settings.session:
            body["session"] = {"id": str(uuid.UUID(hex=session_of(request), version=4))}
        return Ask("/v1/extract", basic(secret["apiKey"], ""), body)

    def read(self, answer: Answer) -> FetchResult:
        """Read an extraction, or a problem document."""
        if answer.status != 200:
            return self._refused(answer)
        found = parsed(_Extracted, answer.body)
        if found is None or (found.http_response_body is None and found.browser_html is None):
            return bad_answer(self.name, answer, "httpResponseBody or browserHtml")
        headers = site_headers({header.name: header.value for header in found.http_response_headers})
        body: bytes | str = found.browser_html or ""
        if found.http_response_body is not None:
            try:
                body = base64.b64decode(found.http_response_body, validate=True)
            except (binascii.Error, ValueError):
                return bad_answer(self.name, answer, "base64 in httpResponseBody")
        content_type = headers.get("content-type", HTML)
        return page(
            answer,
            status=found.status_code,
            body=body,
            headers=headers,
            content_type=content_type,
            final_url=found.url,
        )

    def _refused(self, answer: Answer) -> ProviderError:
        problem = parsed(_Problem, answer.body) or _Problem()
        said = f"{problem.type} {problem.detail or problem.title}".strip()
        if answer.status == UNAVAILABLE_FOR_LEGAL_REASONS:
            return ProviderError(
                "provider_policy", f"zyte does not fetch this site (451): {said}", False, answer.status
            )
        return refusal(self.name, answer, said)
