"""Decodo Web Scraping API: `POST /v2/scrape`, after "Web Scraping API parameters" and the API's public examples."""

from collections.abc import Mapping

import msgspec

from services.ledger.countries import COUNTRY_NAMES
from services.workers.providers.dialect import (
    Answer,
    Ask,
    basic,
    cookies_of,
    parsed,
    refusal,
    session_of,
    site_headers,
)
from services.workers.providers.protocol import FetchRequest, FetchResult, ProviderError
from services.workers.providers.results import Result, page_of

FAILED = "failed"


class _Result(Result):
    # PHP writes an empty object as []
    headers: dict[str, str | list[str]] | list[object] = msgspec.field(default_factory=dict)


class _Scraped(msgspec.Struct):
    results: list[_Result] = []
    status: str = ""
    message: str = ""


class Decodo:
    """A page that could not be had is 200 with `status: failed` and no results; only successes are charged."""

    name = "decodo"

    def ask(self, request: FetchRequest, secret: Mapping[str, str]) -> Ask:
        """Ask the `universal` target."""
        settings = request.settings
        headers, cookies = cookies_of(request.headers)
        body: dict[str, object] = {"target": "universal", "url": request.url}
        if settings.country:
            body["geo"] = COUNTRY_NAMES[settings.country.upper()]
        if settings.render_js:
            body["headless"] = "html"
        if settings.output_format == "markdown":
            body["markdown"] = True
        if headers:
            body |= {"headers": headers, "force_headers": True}
        if cookies:
            body |= {"cookies": cookies, "force_cookies": True}
        if settings.session:
            body["session_id"] = session_of(request)
        return Ask("/v2/scrape", basic(secret["username"], secret["password"]), body)

    def read(self, answer: Answer) -> FetchResult:
        """Read the first result: one URL was asked for."""
        found = parsed(_Scraped, answer.body)
        if answer.status != 200:
            return refusal(self.name, answer, found.message if found else "")
        if found and not found.results and (found.status == FAILED or found.message):
            return ProviderError(
                "provider_failed", f"decodo could not get the page: {found.message}", True, answer.status
            )
        result = found.results[0] if found and found.results else None
        headers = site_headers(result.headers if result and isinstance(result.headers, dict) else {})
        return page_of(self.name, answer, result, headers)
