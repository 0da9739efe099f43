"""Selectors are refused when a workflow is saved, with what to do."""

import pytest

from services.ledger.workflow import SelectorKind
from services.workers.extract.selectors import selector_fault


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("css", "a["),
        ("css", "a:unknown(x)"),
        ("css", ""),
        ("css", "::"),
        ("css", "a" * 5000),
        ("xpath", "//a["),
        ("xpath", "foo("),
        ("xpath", "//x:y"),
        ("xpath", "unknown()"),
        ("jsonld", "a..b"),
        ("jsonld", " "),
        ("jsonld", "Product.offers[x]"),
        ("microdata", "Product..name"),
        ("opengraph", "og:title or so"),
        ("jsonpath", "$.a["),
        ("jsonpath", "a.b"),
        ("regex", "("),
        ("regex", r"(?=x)"),
        ("regex", r"(a)\1"),
    ],
)
def test_a_selector_that_cannot_run_is_named(kind: SelectorKind, query: str) -> None:
    fault = selector_fault(kind, query)
    assert fault is not None
    assert kind in fault.lower() or "JSON-LD" in fault


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("css", "ul > li:nth-child(2) a::attr(href)"),
        ("xpath", "count(//a)"),
        ("xpath", "//a/@href"),
        ("jsonld", "Product.offers[0].price"),
        ("jsonld", "@id"),
        ("microdata", "Offer.price"),
        ("opengraph", "og:image:width"),
        ("jsonpath", "$..book[?@.price < 10 && search(@.title, 'x+')]"),
        ("regex", r"(a+)+$"),
    ],
)
def test_a_selector_that_can_run_has_no_fault(kind: SelectorKind, query: str) -> None:
    assert selector_fault(kind, query) is None
