"""Whatever a provider answers is read as a page or as an error: no dialect raises, and none takes junk for a page."""

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from services.ledger.workflow import ServiceSettings
from services.workers.providers.dialect import Answer, Dialect
from services.workers.providers.protocol import Fetched, FetchRequest, ProviderError
from services.workers.providers.registry import DIALECTS

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HEADERS = ("x-brd-error", "x-brd-error-code", "x-brd-status-code", "Retry-After")
TEXT = st.text(max_size=8)
ODD = st.none() | st.booleans() | st.integers(-1, 700) | st.lists(TEXT, max_size=2)
SITE_STATUS = st.sampled_from([200, 200, 200, 0, 99, -1, 404, 503])
SITE_HEADERS = st.dictionaries(st.sampled_from(("Retry-After", "X-Brd-Error", "Content-Type")), TEXT, max_size=2)
LISTED_HEADERS = st.lists(st.fixed_dictionaries({"name": TEXT, "value": TEXT}), max_size=2)
# The fields of all providers, of the type that they document.
TYPED: dict[str, st.SearchStrategy[object]] = {
    "status_code": SITE_STATUS,
    "statusCode": SITE_STATUS,
    "status": st.sampled_from(["success", "success", "failed"]),
    "headers": SITE_HEADERS,
    "httpResponseHeaders": LISTED_HEADERS,
    "httpResponseBody": st.sampled_from(["aGVsbG8=", "aGVsbG8", ""]),
    **dict.fromkeys(("body", "content", "html_content", "browserHtml", "url", "message"), TEXT),
}
GOOD = st.fixed_dictionaries(TYPED, optional={"markdown": TEXT, "parsing": SITE_HEADERS})
BAD = st.fixed_dictionaries({}, optional={name: ODD | strategy for name, strategy in TYPED.items()})
OBJECTS = GOOD | BAD
BODIES = st.binary(max_size=40) | (OBJECTS | st.fixed_dictionaries({"results": st.lists(OBJECTS, max_size=2)})).map(
    msgspec.json.encode
)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@given(
    status=st.sampled_from([200, 200, 200, 204, 302, 400, 401, 402, 408, 429, 451, 500, 613]),
    headers=st.dictionaries(st.sampled_from(HEADERS), st.text(st.characters(codec="latin-1"), max_size=6), max_size=3),
    body=BODIES,
    output_format=st.sampled_from(["html", "json", "markdown"]),
)
def test_every_answer_is_a_page_or_an_error(
    dialect: Dialect, status: int, headers: Mapping[str, str], body: bytes, output_format: str
) -> None:
    settings = ServiceSettings(provider=dialect.name, output_format=output_format)  # type: ignore[arg-type]
    request = FetchRequest("https://shop.example/", settings)
    result = dialect.read(Answer(status, CIMultiDict(headers), body, request, NOW))
    match result:
        case Fetched():
            assert status == 200
            assert 100 <= result.status < 400
            assert isinstance(result.body, bytes)
            assert result.billed
        case ProviderError():
            assert result.message
            assert result.retryable or result.retry_after_seconds is None
