"""Selectors are refused when a workflow is saved, with what to do."""

import pytest
from parsel import Selector

from services.ledger.workflow import SelectorKind, WorkflowInvalid
from services.workers.extract.selectors import nodes, selector_fault


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
        ("xpath", "//a[unknown()]"),  # nothing that it would be asked of is on an empty page
        ("xpath", "re:test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', '(a+)+$')"),  # takes for ever
        ("xpath", "//a[re:test(., '(')]"),
        ("xpath", "count((//node()|//node()/..)[" * 12 + "true()" + "])" * 12),  # the same
        ("css", ":has(" * 7 + "a" + ")" * 7),
        ("css", ":is(" * 700 + "a" + ")" * 700),
        ("css", ">".join("a" * 2000)),
        ("jsonld", "a..b"),
        ("jsonld", " "),
        ("jsonld", "Product.offers[x]"),
        ("microdata", "Product..name"),
        ("opengraph", "og:title or so"),
        ("jsonpath", "$.a["),
        ("jsonpath", "a.b"),
        ("jsonpath", "$[?@.price > 1e400]"),
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
        ("xpath", "//p[text()='no(']/ancestor::div[1]/*[not(self::p) and (@x or (@y)) and has-class('a')]"),
        ("css", "ul:has(li:has(a:has(b:not([x]))))"),
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


@pytest.mark.parametrize("query", ["//a[count(1)]", "//a[has-class(@b)]", "//a[re:test(., 'x')]"])
def test_what_turns_out_to_be_no_selector_is_a_fault_of_the_workflow_and_not_ours(query: str) -> None:
    with pytest.raises(WorkflowInvalid, match="is not a xpath selector"):
        nodes(Selector(text="<a>x</a>", type="html"), "xpath", query)
