"""Bright Data Web Unlocker: `POST /request`, after "Unlock website" and "Web Unlocker API error codes"."""

from collections.abc import Mapping

import msgspec

from services.workers.providers.dialect import (
    HTML,
    MARKDOWN,
    MESSAGE_CHARS,
    Answer,
    Ask,
    bad_answer,
    page,
    parsed,
    refusal,
    refusal_of,
    site_headers,
)
from services.workers.providers.protocol import FetchRequest, FetchResult, ProviderError

FORBIDDEN = 403


class _Unlocked(msgspec.Struct):
    body: str
    status_code: int = 200
    headers: dict[str, str | list[str]] = {}


class BrightData:
    """The answer is 200 once the unlocker was reached; `x-brd-*` tells its own errors from those of the site."""

    name = "brightdata"

    def ask(self, request: FetchRequest, secret: Mapping[str, str]) -> Ask:
        """Ask for status, headers and body of the page in one JSON object."""
        body: dict[str, object] = {"zone": secret["zone"], "url": request.url, "format": "json", "method": "GET"}
        if request.settings.country:
            body["country"] = request.settings.country.lower()
        if request.settings.output_format == "markdown":
            body["data_format"] = "markdown"
        return Ask("/request", f"Bearer {secret['apiKey']}", body)

    def read(self, answer: Answer) -> FetchResult:
        """Read the page; an error of the unlocker stands in the headers of the answer, or of the page in it."""
        if answer.status != 200:
            return refusal(self.name, answer, answer.body[:MESSAGE_CHARS].decode("utf-8", "replace").strip())
        found = parsed(_Unlocked, answer.body)
        headers = site_headers(found.headers if found else {})
        for told in (answer.headers, headers):
            if any(told.get(name) for name in ("x-brd-error", "x-brd-error-code", "x-brd-err-code")):
                return self._failed(answer, told, found.status_code if found else 0)
        if found is None:
            return bad_answer(self.name, answer, "status_code, headers and body")
        return page(
            answer,
            status=found.status_code,
            body=found.body,
            headers=headers,
            content_type=MARKDOWN if answer.as_markdown else headers.get("content-type", HTML),
            final_url=answer.request.url,
            billed=found.status_code < 400,
        )

    def _failed(self, answer: Answer, told: Mapping[str, str], status_in_body: int) -> ProviderError:
        text = told.get("x-brd-status-code") or answer.headers.get("x-brd-status-code", "")
        status = int(text) if text.isascii() and text.isdigit() and len(text) == 3 else status_in_body or 502
        code = told.get("x-brd-error-code") or told.get("x-brd-err-code", "")
        said = f"{code} {told.get('x-brd-error', '')}".strip()
        if status == FORBIDDEN:
            return ProviderError("provider_policy", f"brightdata does not fetch this page (403): {said}", False, status)
        if status < 400:
            return ProviderError("provider_failed", f"brightdata could not get the page: {said}", True, status)
        return refusal_of(self.name, status, told, said, answer.now)
