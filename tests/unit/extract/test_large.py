"""What a selector may take: however many nodes it finds and however long they are, a worker has room for the answer."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from parsel import Selector

from services.ledger.workflow import ExtractorSettings, Field, ItemsSelector, Leaf, Part, WorkflowInvalid
from services.workers.extract import xpaths
from services.workers.extract.extractor import extract
from services.workers.extract.selectors import nodes, raw_values, selector_fault
from services.workers.extract.size import MAX_CHARS, PER_VALUE, chars_of
from tests.unit.hostile import told_within

URL = "http://a.example/"
LONG = "x" * (MAX_CHARS // 3)
CPU_SECONDS, MEMORY_BYTES = 60, 1_500 << 20
RUN = """
import json, sys
from services.ledger.workflow import ExtractorSettings, Field, ItemsSelector
from services.workers.extract.extractor import extract
for name, (page, items, fields) in json.load(sys.stdin).items():
    settings = ExtractorSettings(
        items=ItemsSelector(query=items) if items else None,
        fields=tuple(Field(name=f"f{n}", selector=kind, query=query) for n, (kind, query) in enumerate(fields)),
    )
    problems = extract(page, "http://a.example/", settings).problems
    print(json.dumps([name, [problem.code for problem in problems]]), flush=True)
"""


def problems_of(page: str, *fields: Field, items: ItemsSelector | None = None) -> list[tuple[str, str]]:
    """Return code and field of what cannot be read of a page."""
    found = extract(page, URL, ExtractorSettings(items=items, fields=fields))
    return [(problem.code, problem.field) for problem in found.problems]


@pytest.mark.parametrize(("kind", "query"), [("css", "b"), ("xpath", "//b"), ("xpath", "//i | //b")])
def test_of_many_nodes_no_more_are_made_than_are_looked_at(kind: Any, query: str) -> None:
    page = Selector(text="<html><body>" + "<b id=a>x</b>" * (xpaths.MAX_FOUND + 50), type="html")
    assert len(nodes(page, kind, query)) == xpaths.MAX_FOUND + 1
    assert len(nodes(page, kind, query, inside=True)) == xpaths.MAX_FOUND + 1


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("//b[1]", ["1"]),
        ("(//b)[last()]", ["3"]),
        ("//b[position() > 1] | //b[1]", ["1", "2", "3"]),
        ("count(//b)", ["3.0"]),
        ("string(//b[2])", ["2"]),
        ("concat('a)', //b[1], \"(\")", ["a)1("]),
        ("//b[2]/text()", ["2"]),
        ("boolean(//i)", ["0"]),
    ],
)
def test_a_path_means_what_it_means_without_a_limit(query: str, found: list[str]) -> None:
    page = Selector(text="<html><body><b>1</b><b>2</b><b>3</b>", type="html")
    texts = raw_values(nodes(page, "xpath", query), Leaf(name="v", query=query, type="list"))
    assert texts == found


@pytest.mark.parametrize("query", ["//a) | (//b", "//b)[1] | (//i", ") (", "//a[", "concat(')', //a) )"])
def test_what_is_no_path_is_none_in_parentheses_either(query: str) -> None:
    assert selector_fault("xpath", query)
    with pytest.raises(WorkflowInvalid):
        nodes(Selector(text="<html><a>1</a><b>2</b>", type="html"), "xpath", query)


def test_only_so_many_texts_are_put_together() -> None:
    for parts, good in ((xpaths.MAX_PARTS, True), (xpaths.MAX_PARTS + 1, False)):
        fault = selector_fault("xpath", f"concat({', '.join(['//a'] * parts)})")
        assert (fault is None) == good
    commas = ", ".join(["','"] * xpaths.MAX_PARTS)
    assert selector_fault("xpath", f"concat({commas})") is None, "those in a text do not count"


ITSELF = Part(name="v", selector="xpath", query=".")
PAGE = f"<html><body>{LONG}"
JSON = f'{{"a": ["{LONG}"]}}'


@pytest.mark.parametrize(
    ("page", "field"),
    [
        (PAGE, lambda name: Field(name=name, query="body")),
        (PAGE, lambda name: Field(name=name, selector="xpath", query="string(//body)")),
        (PAGE, lambda name: Field(name=name, selector="regex", query="x+")),
        (JSON, lambda name: Field(name=name, selector="jsonpath", query="$", type="object")),
        (
            PAGE,
            lambda name: Field(name=name, query="body", type="object", fields=(ITSELF,)),
        ),
    ],
    ids=["css", "xpath", "regex", "jsonpath", "object"],
)
def test_all_values_of_a_page_are_no_longer_than_they_may_be_together(page: str, field: Callable[[str], Field]) -> None:
    fields = [field(f"f{number}") for number in range(6)]
    found = extract(page, URL, ExtractorSettings(fields=tuple(fields)))
    kept = [name for name, value in found.normalized.items() if value and value != {"v": None}]
    assert len(kept) in (2, 3)
    assert chars_of(found.normalized) <= MAX_CHARS
    assert [problem.code for problem in found.problems] == ["too_large"], "told once"
    assert found.problems[0].field.startswith(f"f{len(kept)}")


def test_a_required_value_that_is_not_taken_any_more_is_missing() -> None:
    fields = [Field(name=f"f{number}", query="body", required=number == 4) for number in range(5)]
    found = extract(PAGE, URL, ExtractorSettings(fields=tuple(fields)))
    assert found.unmet
    assert found.completeness < 1


def test_a_list_of_what_lies_within_each_other_is_read_no_further_than_is_kept() -> None:
    page = "<html><body>" + "<div>" * 100 + LONG
    assert problems_of(page, Field(name="v", query="div", type="list")) == [("too_large", "v")]
    every = ItemsSelector(query="div")
    assert problems_of(page, Field(name="v", selector="xpath", query="."), items=every) == [("too_large", "v")]


def test_the_length_of_a_value_is_that_of_its_texts() -> None:
    assert chars_of(None) == chars_of(7) == PER_VALUE
    assert chars_of("abc") == 3
    assert chars_of({"ab": ["c", {"d": None}]}) == 2 * PER_VALUE + 2 + 1 + PER_VALUE + 1 + 2 * PER_VALUE
    assert chars_of(["abc"] * 1_000, most=100) > 100


def test_what_selectors_find_fits_into_the_memory_of_a_worker() -> None:
    many = "<html><body>" + "<b>x</b>" * 1_000_000
    deep = "<html><body>" + "<div>" * 200 + "x" * 9_000_000
    text = "<html><body>" + "x" * 9_000_000
    told = told_within(
        RUN,
        {
            "every node": (many, "", [["xpath", "//node()"], ["css", "*"]]),
            "each in each": (deep, "div", [["xpath", "."]]),
            "a thousand times": (text, "", [["css", "body"]] * 1_000),
            "put together": (text, "", [["xpath", f"concat({','.join(['//body'] * xpaths.MAX_PARTS)})"]]),
        },
        cpu_seconds=CPU_SECONDS,
        memory_bytes=MEMORY_BYTES,
    )
    assert told == {
        "every node": [],
        "each in each": ["too_large"],
        "a thousand times": ["too_large"],
        "put together": ["too_large"],
    }


@pytest.mark.parametrize(
    ("query", "most"),
    [
        ("$..[?count($..*) > 1]", 1_000),
        ("$.a[?count($.a[?count($..b) > 0]) > 0]", 100),
        ("$.a[?@.b > $.a[0].b].b", 30_000),
    ],
)
def test_a_filter_that_looks_through_the_document_for_each_value_is_for_small_ones(query: str, most: int) -> None:
    for values, told in ((most // 4, []), (most, [("too_large", "")])):
        page = json.dumps({"a": [{"b": number} for number in range(values // 2)]})
        expected = told if most < 30_000 else []
        assert problems_of(page, Field(name="v", selector="jsonpath", query=query, type="list")) == expected


def test_a_nested_filter_over_a_small_page_is_read_in_time() -> None:
    page = json.dumps({"a": [{"b": number, "c": [number]} for number in range(100)]})
    query = "$..[?count($..[?count($..*)>1])>1]"
    told = told_within(RUN, {"page": (page, "", [["jsonpath", query]])}, cpu_seconds=30, memory_bytes=MEMORY_BYTES)
    assert told == {"page": ["too_large"]}
