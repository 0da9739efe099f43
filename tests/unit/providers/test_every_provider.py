"""What holds of every provider with a credential: each adapter against its fake over a real socket."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import aiohttp
import pytest
from aiohttp import web
from prometheus_client import REGISTRY

from services.ledger.provider_settings import PROVIDERS
from services.ledger.workflow import ServiceSettings
from services.runtime.errors import CredentialsAway
from services.workers.providers.protocol import Fetched, ProviderError
from tests.fakes.providers.frame import SECRETS, FakeProvider, SitePage
from tests.unit.providers.calls import FAKES, MAX_BODY_BYTES, ORG, URL, MemoryCredentials, called

pytestmark = pytest.mark.parametrize("kind", FAKES, ids=lambda kind: kind.name)
Kind = type[FakeProvider]


def in_90_seconds() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)


async def failed(fake: FakeProvider, **settings: float) -> ProviderError:
    async with fake.serving() as base_url:
        wanted = ServiceSettings(provider=fake.name, **settings)  # type: ignore[arg-type]
        result = await called(fake, base_url, settings=wanted)
    assert isinstance(result, ProviderError), result
    return result


async def test_a_page_comes_back_and_is_billed(kind: Kind) -> None:
    fake = kind()
    async with fake.serving() as base_url:
        result = await called(fake, f"{base_url}/")
    assert isinstance(result, Fetched), result
    assert (result.status, result.body, result.final_url) == (200, fake.page.body.encode(), URL)
    assert result.content_type.startswith("text/html")
    assert result.billed
    assert fake.asked[0]["url"] == URL


async def test_a_text_of_the_provider_is_utf_8_whatever_the_site_said(kind: Kind) -> None:
    fake = kind()
    fake.page = SitePage("<p>caf\u00e9</p>")
    async with fake.serving() as base_url:
        result = await called(fake, base_url)
    assert isinstance(result, Fetched)
    charset = result.content_type.partition("charset=")[2]
    assert result.body.decode(charset) == fake.page.body


@pytest.mark.parametrize(
    ("status", "error_type", "retryable"), [(404, "http_4xx", False), (503, "http_5xx", True), (429, "http_429", True)]
)
async def test_the_status_of_the_site_means_what_it_means_without_a_provider(
    kind: Kind, status: int, error_type: str, retryable: bool
) -> None:
    fake = kind()
    fake.page = SitePage(status=status)
    result = await failed(fake)
    assert (result.error_type, result.retryable, result.status_code) == (error_type, retryable, status)
    assert "the site" in result.message


async def test_a_wrong_credential_is_named_not_tried_again_and_looked_up_anew(kind: Kind) -> None:
    fake, credentials = kind(), MemoryCredentials({name: f"wr0ng-{name}" for name in SECRETS})
    async with fake.serving() as base_url:
        result = await called(fake, base_url, credentials=credentials)
    assert isinstance(result, ProviderError)
    assert (result.error_type, result.retryable, result.status_code) == ("provider_auth", False, 401)
    assert fake.name in result.message
    assert credentials.forgotten == [(ORG, fake.name)]
    assert fake.asked == []


async def test_no_call_is_made_without_a_credential(kind: Kind) -> None:
    fake, missing = kind(), ProviderError("credential_missing", "none")
    async with fake.serving() as base_url:
        result = await called(fake, base_url, credentials=MemoryCredentials(missing))
    assert isinstance(result, ProviderError)
    assert result.error_type == "credential_missing"
    assert fake.asked == []


async def test_a_provider_that_quotes_the_credential_is_not_quoted(kind: Kind) -> None:
    fake = kind()

    async def quoting(request: web.Request) -> web.StreamResponse:
        told = f"{request.headers['Authorization']} of {' '.join(SECRETS.values())}"
        return fake.refusal(400, told)

    fake.scripted.append(quoting)
    result = await failed(fake)
    assert "***" in result.message
    for secret in (fake.authorization.partition(" ")[2], *(SECRETS[name] for name in PROVIDERS[fake.name].credential)):
        assert secret not in result.message, result.message


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [({"Retry-After": "7"}, 7, 7), ({}, 0, 0), ({"Retry-After": "soon"}, 0, 0), ({"Retry-After": "date"}, 60, 91)],
)
async def test_a_429_is_tried_again_when_it_says(kind: Kind, header: dict[str, str], least: int, most: int) -> None:
    fake = kind()
    told = {name: in_90_seconds() if value == "date" else value for name, value in header.items()}
    fake.says(429, **{name.replace("-", "_"): value for name, value in told.items()})
    result = await failed(fake)
    assert (result.error_type, result.retryable, result.status_code) == ("http_429", True, 429)
    assert result.retry_after_seconds is not None
    assert least <= result.retry_after_seconds <= most
    assert not result.billed


@pytest.mark.parametrize("status", [500, 502, 503, 520, 524, 613])
async def test_a_failure_of_the_provider_is_tried_again(kind: Kind, status: int) -> None:
    fake = kind()
    fake.says(status, "overloaded", Retry_After="3")
    result = await failed(fake)
    assert (result.error_type, result.retryable, result.status_code) == ("http_5xx", True, status)
    assert result.retry_after_seconds == 3
    assert "overloaded" in result.message
    assert not result.billed


async def test_what_the_provider_refuses_is_not_tried_again(kind: Kind) -> None:
    fake = kind()
    fake.says(400, "bad parameter x")
    result = await failed(fake)
    assert (result.error_type, result.retryable) == ("provider_request", False)
    assert "bad parameter x" in result.message


async def test_a_used_up_account_is_named(kind: Kind) -> None:
    fake = kind()
    fake.says(402, "no credits")
    result = await failed(fake)
    assert (result.error_type, result.retryable) == ("provider_quota", False)


async def test_silence_is_a_timeout(kind: Kind) -> None:
    fake = kind()
    fake.scripted.append(fake.hang)
    result = await failed(fake, timeout_seconds=0.2)
    assert (result.error_type, result.retryable) == ("timeout", True)


@pytest.mark.parametrize("way", ["reset", "half"])
async def test_a_connection_that_breaks_is_tried_again(kind: Kind, way: str) -> None:
    fake = kind()
    fake.scripted.append(getattr(fake, way))
    result = await failed(fake)
    assert (result.error_type, result.retryable) == ("connection", True)


async def test_a_closed_port_is_a_connection_error_without_the_credential(kind: Kind) -> None:
    fake = kind()
    async with fake.serving() as base_url:
        pass
    result = await called(fake, base_url)
    assert isinstance(result, ProviderError)
    assert (result.error_type, result.retryable) == ("connection", True)
    assert not any(secret in result.message for secret in SECRETS.values())


async def test_a_page_over_the_limit_is_refused_and_an_endless_answer_is_not_read(kind: Kind) -> None:
    fake = kind()
    fake.page = SitePage("x" * (MAX_BODY_BYTES + 1))
    result = await failed(fake)
    assert (result.error_type, result.retryable) == ("too_large", False)
    fake = kind()
    fake.scripted.append(fake.endless)
    assert (await failed(fake)).error_type == "too_large"


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b"[]", b'{"results": []}', b'{"results": [{}]}', b"\xff"])
async def test_an_answer_of_another_shape_is_named(kind: Kind, body: bytes) -> None:
    fake = kind()

    async def odd(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=body, content_type="application/json")

    fake.scripted.append(odd)
    result = await failed(fake)
    assert (result.error_type, result.retryable) == ("bad_answer", False)


async def test_a_redirect_does_not_carry_the_credential_away(kind: Kind) -> None:
    fake, elsewhere = kind(), kind()
    async with elsewhere.serving() as other:

        async def leading_away(_request: web.Request) -> web.StreamResponse:
            return web.Response(status=307, headers={"Location": f"{other}{elsewhere.path}"})

        fake.scripted.append(leading_away)
        result = await failed(fake)
    assert result.error_type == "bad_answer"
    assert elsewhere.asked == []


async def test_what_is_no_web_address_is_not_handed_on(kind: Kind) -> None:
    fake, credentials = kind(), MemoryCredentials()
    async with fake.serving() as base_url:
        result = await called(fake, base_url, url="ftp://host/", credentials=credentials)
    assert isinstance(result, ProviderError)
    assert result.error_type == "bad_url"
    assert (fake.asked, credentials.looked_up) == ([], [])


async def test_a_setting_that_cannot_be_honoured_makes_no_call(kind: Kind) -> None:
    fake = kind()
    async with fake.serving() as base_url:
        result = await called(fake, base_url, settings=ServiceSettings(provider=fake.name, output_format="text"))
    assert isinstance(result, ProviderError)
    assert (result.error_type, fake.asked) == ("provider_request", [])
    assert "outputFormat" in result.message


async def test_the_fake_refuses_unknown_fields_and_every_other_way_of_asking(kind: Kind) -> None:
    fake = kind()
    good = {"Authorization": fake.authorization}
    async with fake.serving() as base_url, aiohttp.ClientSession() as session:
        url = f"{base_url}{fake.path}"
        async with session.post(url, json={"url": URL, "surprise": 1}, headers=good) as answer:
            assert answer.status == 400
        async with session.post(url, json={"url": URL}) as answer:
            assert answer.status == 401
        async with session.get(url, headers=good) as answer:
            assert answer.status == 405
        async with session.post(f"{url}x", json={"url": URL}, headers=good) as answer:
            assert answer.status == 404
        async with session.post(url, data="url=x", headers={**good, "Content-Type": "text/plain"}) as answer:
            assert answer.status == 415
    assert fake.asked == []


async def test_calls_are_counted_with_what_they_cost(kind: Kind) -> None:
    def counted(outcome: str, billed: str) -> float:
        labels = {"provider": kind.name, "outcome": outcome, "billed": billed}
        return REGISTRY.get_sample_value("jobledger_provider_calls_total", labels) or 0.0

    kinds = (("fetched", "yes"), ("http_5xx", "no"), ("too_large", "yes"))
    before = [counted(*kind) for kind in kinds]
    fake = kind()
    async with fake.serving() as base_url:
        await called(fake, base_url)
        fake.says(500)
        await called(fake, base_url)
        fake.page = SitePage("x" * (MAX_BODY_BYTES + 1))
        await called(fake, base_url)
    assert [counted(*kind) - was for kind, was in zip(kinds, before, strict=True)] == [1, 1, 1]


async def test_an_outage_of_ours_is_no_failure_of_the_provider(kind: Kind) -> None:
    class Away(MemoryCredentials):
        async def secret(self, org_id: str, provider: str) -> ProviderError:
            raise CredentialsAway("down")

    fake = kind()
    async with fake.serving() as base_url:
        with pytest.raises(CredentialsAway):
            await called(fake, base_url, credentials=Away())
    assert fake.asked == []
