"""Oxylabs Web Scraper API: `POST /v1/queries`, after "Realtime", "Headers, Cookies, POST", "Response Codes"."""

from collections.abc import Mapping

import msgspec

from services.ledger.countries import COUNTRY_NAMES
from services.workers.providers.dialect import Answer, Ask, basic, cookies_of, parsed, refusal, session_of
from services.workers.providers.protocol import FetchRequest, FetchResult
from services.workers.providers.results import Result, page_of


class _Results(msgspec.Struct):
    results: list[Result]


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
        return page_of(self.name, answer, result, {})
