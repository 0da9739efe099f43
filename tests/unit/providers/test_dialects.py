"""What each provider is asked for the settings of a node, and how its own answers read; by its fake, field by field."""

import json
import uuid
from typing import Any

import pytest
from aiohttp import web

from services.ledger.workflow import ServiceSettings
from services.workers.providers.dialect import session_of
from services.workers.providers.protocol import Fetched, FetchRequest, ProviderError
from tests.fakes.providers.brightdata import FakeBrightData
from tests.fakes.providers.decodo import FakeDecodo
from tests.fakes.providers.frame import SECRETS, FakeProvider, SitePage
from tests.fakes.providers.nimble import FakeNimble
from tests.fakes.providers.oxylabs import FakeOxylabs
from tests.fakes.providers.zyte import FakeZyte
from tests.unit.providers.calls import URL, asked_by, called

SESSION = "cart of 7"
HEADERS = {"Accept-Language": "nl", "Cookie": "a=1; b=2=3"}


def node(fake: FakeProvider, **settings: Any) -> ServiceSettings:
    return ServiceSettings(provider=fake.name, **settings)


async def answered(fake: FakeProvider, answer: web.Response) -> ProviderError:
    async def told(_request: web.Request) -> web.StreamResponse:
        return answer

    fake.scripted.append(told)
    async with fake.serving() as base_url:
        result = await called(fake, base_url)
    assert isinstance(result, ProviderError), result
    return result


async def test_brightdata_is_asked_for_country_and_markdown() -> None:
    fake = FakeBrightData()
    asked, page = await asked_by(fake, node(fake, country="NL", output_format="markdown"))
    assert asked == {
        "zone": SECRETS["zone"],
        "url": URL,
        "format": "json",
        "method": "GET",
        "country": "nl",
        "data_format": "markdown",
    }
    assert (page.content_type, page.body) == ("text/markdown; charset=utf-8", b"# hello")


@pytest.mark.parametrize(
    ("status", "error_type", "retryable"),
    [
        ("407", "provider_auth", False),
        ("403", "provider_policy", False),
        ("502", "http_5xx", True),
        ("200", "provider_failed", True),
        ("junk", "http_5xx", True),
    ],
)
async def test_an_error_of_brightdata_stands_in_a_header_of_200(status: str, error_type: str, retryable: bool) -> None:
    told = {"x-brd-error": "could not unlock", "x-brd-error-code": "reject_block", "x-brd-status-code": status}
    result = await answered(FakeBrightData(), web.Response(headers=told))
    assert (result.error_type, result.retryable, result.billed) == (error_type, retryable, False)
    assert "reject_block could not unlock" in result.message


async def test_an_error_of_brightdata_may_stand_in_the_headers_of_the_page() -> None:
    page = {"status_code": 429, "headers": {"X-Brd-Error-Code": "sr_rate_limit", "Retry-After": "9"}, "body": ""}
    result = await answered(FakeBrightData(), web.json_response(page))
    assert (result.error_type, result.retry_after_seconds) == ("http_429", 9)


async def test_a_zone_that_does_not_exist_is_a_request_that_brightdata_refuses() -> None:
    result = await answered(FakeBrightData(), web.Response(text='zone "x" not found', status=400))
    assert (result.error_type, result.message) == (
        "provider_request",
        'brightdata refuses the request (400): zone "x" not found',
    )


async def test_a_page_that_the_site_refused_is_not_billed_by_brightdata() -> None:
    result = await answered(FakeBrightData(), web.json_response({"status_code": 404, "headers": {}, "body": "none"}))
    assert (result.error_type, result.billed) == ("http_4xx", False)


async def test_oxylabs_is_asked_for_all_it_honours() -> None:
    fake = FakeOxylabs()
    asked, page = await asked_by(
        fake, node(fake, country="nl", render_js=True, headers=HEADERS, session=SESSION, output_format="markdown")
    )
    session = asked["context"][-1]["value"]  # type: ignore[index]
    assert asked == {
        "source": "universal",
        "url": URL,
        "geo_location": "Netherlands",
        "render": "html",
        "markdown": True,
        "context": [
            {"key": "force_headers", "value": True},
            {"key": "headers", "value": {"Accept-Language": "nl"}},
            {"key": "force_cookies", "value": True},
            {"key": "cookies", "value": [{"key": "a", "value": "1"}, {"key": "b", "value": "2=3"}]},
            {"key": "session_id", "value": session},
        ],
    }
    assert len(session) == 32
    assert page.content_type == "text/markdown; charset=utf-8"


async def test_oxylabs_is_asked_for_nothing_that_a_node_does_not_say() -> None:
    fake = FakeOxylabs()
    asked, _ = await asked_by(fake, node(fake))
    assert asked == {"source": "universal", "url": URL}


async def test_nimble_is_asked_for_all_it_honours() -> None:
    fake = FakeNimble()
    asked, page = await asked_by(fake, node(fake, country="nl", render_js=True, headers=HEADERS, output_format="json"))
    assert asked == {
        "url": URL,
        "method": "GET",
        "format": "json",
        "render": True,
        "parse": True,
        "country": "NL",
        "headers": {"Accept-Language": "nl"},
        "cookies": "a=1; b=2=3",
    }
    assert page.content_type == "application/json"
    assert json.loads(page.body)["entities"] == {"Product": [{"name": "Lamp"}]}


async def test_nimble_gives_markdown() -> None:
    fake = FakeNimble()
    asked, page = await asked_by(fake, node(fake, output_format="markdown"))
    assert asked["markdown"] is True
    assert (page.content_type, page.body) == ("text/markdown; charset=utf-8", b"# hello")


async def test_a_page_that_nimble_could_not_get_is_tried_again() -> None:
    result = await answered(FakeNimble(), web.json_response({"status": "failed", "msg": "blocked"}))
    assert (result.error_type, result.retryable, result.billed) == ("provider_failed", True, False)
    assert "blocked" in result.message


async def test_zyte_is_asked_for_the_body_with_headers_cookies_and_session() -> None:
    fake = FakeZyte()
    asked, page = await asked_by(fake, node(fake, country="nl", headers=HEADERS, session=SESSION))
    session = asked.pop("session")
    assert uuid.UUID(session["id"]).version == 4  # type: ignore[index]
    assert asked == {
        "url": URL,
        "httpResponseBody": True,
        "httpResponseHeaders": True,
        "geolocation": "NL",
        "customHttpRequestHeaders": [{"name": "Accept-Language", "value": "nl"}],
        "requestCookies": [
            {"name": "a", "value": "1", "domain": "shop.example"},
            {"name": "b", "value": "2=3", "domain": "shop.example"},
        ],
    }
    assert page.content_type == "text/html; charset=iso-8859-1"  # the bytes of the site, so its charset too


async def test_zyte_renders_with_a_browser_that_sends_a_referer() -> None:
    fake = FakeZyte()
    asked, page = await asked_by(fake, node(fake, render_js=True, headers={"Referer": "https://a.example/"}))
    assert asked == {"url": URL, "browserHtml": True, "requestHeaders": {"referer": "https://a.example/"}}
    assert page.content_type == "text/html; charset=utf-8"


async def test_a_site_that_zyte_does_not_fetch_is_named() -> None:
    fake = FakeZyte()
    result = await answered(fake, fake.refusal(451, "this domain is forbidden"))
    assert (result.error_type, result.retryable) == ("provider_policy", False)
    assert "/download/domain-forbidden this domain is forbidden" in result.message


async def test_a_suspended_account_of_zyte_is_a_matter_of_the_credential() -> None:
    fake = FakeZyte()
    result = await answered(fake, fake.refusal(403, "suspended"))
    assert (result.error_type, result.retryable) == ("provider_auth", False)


async def test_decodo_is_asked_for_all_it_honours() -> None:
    fake = FakeDecodo()
    asked, page = await asked_by(
        fake, node(fake, country="NL", render_js=True, headers=HEADERS, session=SESSION, output_format="markdown")
    )
    session = asked.pop("session_id")
    assert isinstance(session, str)
    assert len(session) == 32
    assert asked == {
        "target": "universal",
        "url": URL,
        "geo": "Netherlands",
        "headless": "html",
        "markdown": True,
        "headers": {"Accept-Language": "nl"},
        "force_headers": True,
        "cookies": {"a": "1", "b": "2=3"},
        "force_cookies": True,
    }
    assert page.content_type == "text/markdown; charset=utf-8"


async def test_a_page_that_decodo_could_not_get_is_200_and_tried_again() -> None:
    fake = FakeDecodo()
    result = await answered(fake, fake.refusal(200, "could not scrape"))
    assert (result.error_type, result.retryable, result.billed) == ("provider_failed", True, False)
    assert "could not scrape" in result.message


@pytest.mark.parametrize("kind", [FakeBrightData, FakeNimble, FakeZyte, FakeDecodo])
async def test_a_site_that_asks_for_fewer_requests_is_heard_through_the_provider(kind: type[FakeProvider]) -> None:
    fake = kind()
    fake.page = SitePage(status=429, headers={"Retry-After": "41"})
    async with fake.serving() as base_url:
        result = await called(fake, base_url)
    assert isinstance(result, ProviderError)
    assert (result.error_type, result.retry_after_seconds) == ("http_429", 41)


async def test_sessions_of_the_same_name_are_one_within_an_org() -> None:
    fake = FakeDecodo()
    async with fake.serving() as base_url:
        for session in (SESSION, SESSION, "another"):
            assert isinstance(await called(fake, base_url, settings=node(fake, session=session)), Fetched)
    first, again, other = (asked["session_id"] for asked in fake.asked)
    assert first == again != other


def test_sessions_of_the_same_name_are_two_of_two_orgs() -> None:
    settings = ServiceSettings(provider="decodo", session=SESSION)
    mine, theirs = (session_of(FetchRequest(URL, settings, "j", org_id)) for org_id in ("acme", "rival"))
    assert mine != theirs


async def test_a_page_keeps_what_is_worth_keeping_of_its_headers() -> None:
    fake = FakeZyte()
    fake.page = SitePage(headers={"ETag": "x", "Set-Cookie": "a=b", "Content-Type": "text/html"})
    _, page = await asked_by(fake, node(fake))
    assert page.headers == {"etag": "x", "content-type": "text/html"}
