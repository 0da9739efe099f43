"""Requests through an unblocker, over real sockets."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.runtime.networks import networks_of
from services.runtime.settings import Settings
from services.workers.spiders.frames import RoutedAnswer, RoutedRequest
from services.workers.spiders.unblocker import unblocker
from tests.spiders.unblockers import KEY, LONG, SITE, Unblocking, unblocking

SETTINGS = Settings(
    kafka="",
    postgres="",
    registry="",
    blobs="",
    unblocker_user="me",
    unblocker_country_user="me-country-{country}",
    unblocker_key=KEY,
    allowed_networks=networks_of("127.0.0.1"),
)


async def fetch(
    folder: Path, url: str = "http://127.0.0.1/p?q=1", country: str = "", method: str = "GET", **given: Any
) -> tuple[RoutedAnswer, Unblocking]:
    headers = given.pop("headers", [("User-Agent", "spider"), ("Proxy-Authorization", "Basic bWU6bWU="), ("X-A", "1")])
    body = given.pop("body", b"")
    async with unblocking(folder) as known:
        settings = replace(SETTINGS, unblocker_url=known.url, unblocker_ca=str(known.ca), **given)
        async with unblocker(settings) as routes:
            assert routes is not None
            return await routes.fetch(RoutedRequest(1, url, method, headers, body), country), known


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_request_is_answered_by_the_site_through_the_unblocker(scheme: str, tmp_path: Path) -> None:
    url = f"{scheme}://127.0.0.1/p?q=%2F1"
    answer, known = await fetch(tmp_path, url, method="POST", body=b"asked")
    assert (answer.status, answer.body, answer.error) == (200, b'["routed"]', "")
    assert ("X-Site", "yes") in answer.headers
    assert known.requests == [("me", "POST", url)]
    assert known.bodies == [b"asked"]
    [headers] = known.headers
    assert (headers["user-agent"], headers["x-a"]) == ("spider", "1")
    assert "accept" not in headers
    assert ("proxy-authorization" in headers) == (scheme == "http")  # never within a tunnel, which the site may see


async def test_a_name_that_only_the_unblocker_knows_is_its_business(tmp_path: Path) -> None:
    answer, known = await fetch(tmp_path, f"https://{SITE}/")
    assert (answer.status, answer.error) == (200, "")
    assert known.requests == [("me", "GET", f"https://{SITE}/")]


async def test_the_country_is_told_by_the_name(tmp_path: Path) -> None:
    answer, known = await fetch(tmp_path, country="DE")
    assert answer.status == 200
    assert [user for user, _, _ in known.requests] == ["me-country-de"]


async def test_a_country_that_cannot_be_told_is_an_error_and_not_another_country(tmp_path: Path) -> None:
    answer, known = await fetch(tmp_path, country="DE", unblocker_country_user="")
    assert "proxy_country" in answer.error
    assert known.requests == []


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_an_unblocker_that_does_not_know_the_worker_is_named_and_the_key_is_not(
    scheme: str, tmp_path: Path
) -> None:
    answer, known = await fetch(tmp_path, f"{scheme}://127.0.0.1/", unblocker_key="wr0ng-key")
    assert "JOBLEDGER_UNBLOCKER_USER" in answer.error
    assert "wr0ng-key" not in answer.error
    assert (known.refused, known.requests, answer.status) == (1, [], 0)


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/",
        "http://[::ffff:10.0.0.1]/",
        "http://169.254.169.254/latest",
        "https://2130706434/",
        "http://[::1]/",
    ],
)
async def test_what_a_spider_may_not_reach_by_itself_it_does_not_reach_through_the_unblocker(
    url: str, tmp_path: Path
) -> None:
    answer, known = await fetch(tmp_path, url)
    assert "not a public address" in answer.error or "hands out credentials" in answer.error
    assert known.requests == []


@pytest.mark.parametrize(
    "given",
    [
        {"url": "http://127.0.0.1/ HTTP/1.1\r\nHost: b\r\n\r\nGET http://b/"},
        {"url": "ftp://127.0.0.1/"},
        {"url": "http:///x"},
        {"method": "GET http://b/ HTTP/1.1\r\n\r\nGET"},
        {"headers": [("X-A", "1\r\n\r\nGET http://b/ HTTP/1.1")]},
    ],
)
async def test_no_second_request_hides_in_a_first(given: dict[str, Any], tmp_path: Path) -> None:
    answer, known = await fetch(tmp_path, **given)
    assert answer.error
    assert known.requests == []


async def test_an_answer_that_is_too_large_is_an_error(tmp_path: Path) -> None:
    answer, _ = await fetch(tmp_path, "http://127.0.0.1/long", max_body_bytes=LONG - 1)
    assert answer.error == f"the answer is larger than {LONG - 1} bytes"


async def test_without_an_address_there_is_none(tmp_path: Path) -> None:
    async with unblocker(SETTINGS) as routes:
        assert routes is None


def test_the_key_is_in_no_description_of_the_settings() -> None:
    assert KEY not in repr(SETTINGS)
