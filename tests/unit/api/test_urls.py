"""Which urls a job may be about."""

import re

import pytest

from api.errors import Problem
from api.requests import URL_SCHEMA
from api.urls import domain_of, route_form
from services.ledger.workflow_routes import candidates
from services.runtime.networks import LOCAL


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://Shop.Example/a?b=c#d", "shop.example"),
        ("http://shop.example:8080/", "shop.example"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("https://shop.example./", "shop.example"),
        ("https://93.184.216.34/", "93.184.216.34"),
        ("HTTPS://shop.example", "shop.example"),
    ],
)
def test_a_good_url_is_filed_under_its_host(url: str, domain: str) -> None:
    assert domain_of(url, "url", allowed=()) == domain
    assert re.search(URL_SCHEMA["pattern"], url), "the schema refuses nothing that is taken"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "shop.example",
        "//shop.example/",
        "ftp://shop.example/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://",
        "https:///path",
        "https://user:secret@shop.example/",
        "https://shop.example:99999/",
        "https://shop.example:x/",
        "https://[::1/",
        "https://shop.example/a b",
        "https://shop.example/\r\nHost: other",
        "https://shop.example/" + "x" * 9000,
        "https://example.com:0/",
        "https://" + "a" * 64 + ".example/",
        "https://" + "a." * 130 + "example/",
    ],
)
def test_a_bad_url_is_refused_with_its_field(url: str) -> None:
    with pytest.raises(Problem) as caught:
        domain_of(url, "urls[3]", allowed=LOCAL)
    assert (caught.value.status, caught.value.body["field"]) == (422, "urls[3]")


NEVER = ["169.254.169.254", "168.63.129.16"]
ELSEWHERE = ["[fe80::1]", "0.0.0.0", "224.0.0.1", "100.64.0.1"]
NEARBY = [
    "127.0.0.1",
    "10.0.0.1",
    "[::1]",
    "[::ffff:10.0.0.1]",
    "[2002:7f00:1::]",
    "[64:ff9b::7f00:1]",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "127.1",
    "localhost",
    "a.localhost",
    "LOCALHOST.",
    "\uff11\uff12\uff17.0.0.1",
]


@pytest.mark.parametrize("host", [*NEVER, *ELSEWHERE, *NEARBY])
def test_addresses_that_are_not_public_are_refused_however_they_are_spelled(host: str) -> None:
    with pytest.raises(Problem):
        domain_of(f"http://{host}/", "url", allowed=())


@pytest.mark.parametrize("host", NEARBY)
def test_addresses_of_networks_that_are_allowed_are_taken(host: str) -> None:
    assert domain_of(f"http://{host}/", "url", allowed=LOCAL)


@pytest.mark.parametrize("host", [*NEVER, *ELSEWHERE])
def test_addresses_of_other_networks_are_refused_all_the_same(host: str) -> None:
    with pytest.raises(Problem):
        domain_of(f"http://{host}/", "url", allowed=LOCAL)


@pytest.mark.parametrize(
    ("route", "form"),
    [
        ("*", "*"),
        ("domain:Example.COM", "example.com"),
        ("domain:b\u00fccher.example.", "xn--bcher-kva.example"),
        ("domain:shop\u3002example\uff0ecom", "shop.example.com"),
        ("domain:localhost", "localhost"),
        ("domain:8.8.8.8", "8.8.8.8"),
        ("domain:[2001:DB8::1]", "2001:db8::1"),
        *((bad, None) for bad in ("", "domain:", "example.com", "Domain:a", "domain: a", "domain:a:80", "domain:*.a")),
        *((bad, None) for bad in ("domain:a/b", "domain:u@a", "domain:.a", "domain:a..b", "domain:2001:db8::1")),
    ],
)
def test_a_route_has_one_form_for_all_its_spellings(route: str, form: str | None) -> None:
    assert route_form(route) == form


@pytest.mark.parametrize(
    ("host", "routes"),
    [
        ("a.b.example", ["a.b.example", "b.example", "example", "*"]),
        ("example", ["example", "*"]),
        ("8.8.4.4", ["8.8.4.4", "*"]),
        ("2001:db8::1", ["2001:db8::1", "*"]),
    ],
)
def test_a_host_falls_under_the_most_specific_route_first(host: str, routes: list[str]) -> None:
    assert candidates(host) == routes
