"""Oxylabs Web Scraper API: `POST /v1/queries`, after "Realtime", "Headers, Cookies, POST", "Response Codes"."""

from collections.abc import Mapping

import msgspec

from services.ledger.countries import COUNTRY_NAMES
from services.workers.providers.dialect import (
    HTML,
    JSON,
    MARKDOWN,
    Answer,
    Ask,
    bad_answer,
    basic,
    content_of,
    cookies_of,
    page,
    parsed,
    refusal,
    session_of,
)
from services.workers.providers.protocol import FetchRequest, FetchResult


class _Result(msgspec.Struct):
    content: str | dict[str, object] | list[object] | None = None
    status_code: int = 200
    url: str = ""


class _Results(msgspec.Struct):
    results: list[_Result]


class _Message(msgspec.Struct):
    message: str = ""


class Oxylabs:
    """Faulted jobs (612, 613) cost nothing; of the site's headers the answer holds none."""

    name = "oxylabs"

    def ask(self, request: FetchRequest, secret: Mapping[str, str]) -> Ask:
        """Ask the `universal` source."""
        settings = request.settings
        headers, cookies = cookies_of(request.headers)
        body: dict[str, object] = {"source": "universal", "url": request.url}
        if settings.country:
            body["geo_location"] = COUNTRY_NAMES[settings.country.upper()]
        if settings.render_js:
            body["render"] = "html"
        if settings.output_format == "markdown":
            body["markdown"] = True
        context: list[dict[str, object]] = []
        if headers:
            context += [{"key": "force_headers", "value": True}, {"key": "headers", "value": headers}]
        if cookies:
            listed = [{"key": name, "value": value} for name, value in cookies.items()]
            context += [{"key": "force_cookies", "value": True}, {"key": "cookies", "value": listed}]
        if settings.session:
            context.append({"key": "session_id", "value": session_of(request)})
        if context:
            body["context"] = context
        return Ask("/v1/queries", basic(secret["username"], secret["password"]), body)

    def read(self, answer: Answer) -> FetchResult:
        """Read the first result: one URL was asked for."""
        if answer.status != 200:
            return refusal(self.name, answer, (parsed(_Message, answer.body) or _Message()).message)
        found = parsed(_Results, answer.body)
        result = found.results[0] if found and found.results else None
        if result is None or result.content is None:
            return bad_answer(self.name, answer, "results with content")
        text = isinstance(result.content, str)
        content_type = (MARKDOWN if answer.as_markdown else HTML) if text else JSON
        return page(
            answer,
            status=result.status_code,
            body=content_of(result.content),
            headers={},
            content_type=content_type,
            final_url=result.url,
        )
