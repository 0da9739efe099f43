"""Reading items from pages, and their quality."""

from typing import Any

from services.ledger.workflow import ExtractorSettings, Field, ItemsSelector
from services.workers.extract.extractor import Extraction, extract, refusal

URL = "https://shop.example/list"
PAGE = """<html><head><meta property="og:title" content="Kettles">
<script type="application/ld+json">{broken</script>
<script type="application/ld+json">[{"@type": "WebSite", "name": "Shop"}, {"@graph": [
  {"@type": ["Product", "Thing"], "name": "Kettle", "image": ["/a.jpg", "/b.jpg"],
   "offers": {"@type": "Offer", "price": "49.90", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}}
]}]</script></head><body><h1> Big   <b>kettle</b><script>ignore()</script></h1>
<time datetime="2026-05-01">last spring</time><span itemprop="price" content="49.90">49,90</span>
<ul><li class="item"><a href="/1">One</a> <i>1,50 €</i></li><li class="item"><a href="/2">Two</a> <i>free</i></li></ul>
</body></html>"""


def read(*fields: Field, text: str = PAGE, **settings: Any) -> Extraction:
    return extract(text, URL, ExtractorSettings(fields=fields, **settings))


def test_css_xpath_and_json_ld_are_read_side_by_side() -> None:
    extraction = read(
        Field(name="css", query="h1"),
        Field(name="xpath", selector="xpath", query="//h1/b/text()"),
        Field(name="jsonld", selector="jsonld", query="Product.offers.price", type="number"),
        Field(name="second", selector="jsonld", query="Product.image[1]", type="url"),
        Field(name="money", selector="jsonld", query="Product.offers", type="money"),
        Field(name="stock", selector="jsonld", query="Offer.availability", type="boolean"),
    )
    assert extraction.normalized == {
        "css": "Big kettle",
        "xpath": "kettle",
        "jsonld": 49.9,
        "second": "https://shop.example/b.jpg",
        "money": {"amount": "49.90", "currency": "EUR"},
        "stock": True,
    }
    assert (extraction.completeness, extraction.validation, extraction.composite) == (1.0, 1.0, 1.0)


def test_a_type_reads_the_attribute_that_carries_it() -> None:
    extraction = read(
        Field(name="when", query="time", type="date"),
        Field(name="link", query="li a", type="url"),
        Field(name="price", query="[itemprop=price]", type="number"),
        Field(name="title", query="meta[property='og:title']"),
        Field(name="class", query="li", attribute="class"),
    )
    assert extraction.normalized == {
        "when": "2026-05-01",
        "link": "https://shop.example/1",
        "price": 49.9,
        "title": "Kettles",
        "class": "item",
    }


def test_a_broken_json_ld_script_is_skipped_and_named() -> None:
    extraction = read(Field(name="n", selector="jsonld", query="Product.name"))
    assert extraction.normalized == {"n": "Kettle"}
    assert [problem.code for problem in extraction.problems] == ["broken_jsonld"]


def test_a_list_page_yields_one_item_for_each_match() -> None:
    extraction = read(
        Field(name="name", query="a"),
        Field(name="link", selector="xpath", query="//a/@href", type="url"),
        Field(name="price", query="i", type="money"),
        items=ItemsSelector(query="li.item"),
    )
    assert extraction.items == [
        {"name": "One", "link": "https://shop.example/1", "price": {"amount": "1.50", "currency": "EUR"}},
        {"name": "Two", "link": "https://shop.example/2", "price": None},
    ]
    assert extraction.normalized == {"items": extraction.items}


def test_the_formulas_of_quality_hold() -> None:
    extraction = read(
        Field(name="name", query="a"),
        Field(name="price", query="i", type="money"),
        Field(name="gone", query=".gone", required=True),
        items=ItemsSelector(query="li.item"),
    )
    # found: 2 names and 1 price of 6; checked: those, one invalid price and two missing values
    assert extraction.completeness == 0.5
    assert extraction.validation == 0.5
    assert extraction.composite == 0.5
    assert [(problem.item, problem.field, problem.code) for problem in extraction.problems] == [
        (0, "gone", "missing"),
        (1, "price", "invalid"),
        (1, "gone", "missing"),
    ]


def test_the_composite_weighs_completeness_six_to_four() -> None:
    extraction = read(Field(name="title", query="h1"), Field(name="gone", query=".gone"))
    assert (extraction.completeness, extraction.validation, extraction.composite) == (0.5, 1.0, 0.7)
    extraction = read(*(Field(name=name, query=".gone", default="x") for name in "ab"), Field(name="t", query="h1"))
    assert (extraction.completeness, extraction.validation, extraction.composite) == (0.3333, 1.0, 0.6)


def test_a_default_fills_in_but_does_not_count_as_found() -> None:
    extraction = read(Field(name="title", query="h1"), Field(name="colour", query=".colour", default="grey"))
    assert extraction.normalized == {"title": "Big kettle", "colour": "grey"}
    assert extraction.completeness == 0.5


def test_items_can_be_things_of_json_ld() -> None:
    text = '<script type="application/ld+json">[{"@type":"Event","name":"A"},{"@type":"Event","name":"B"}]</script>'
    extraction = read(
        Field(name="n", selector="jsonld", query="name"),
        text=text,
        items=ItemsSelector(selector="jsonld", query="Event"),
    )
    assert extraction.items == [{"n": "A"}, {"n": "B"}]


def test_an_empty_result_carries_its_reason_and_fails_by_rule() -> None:
    settings = ExtractorSettings(fields=(Field(name="x", query=".x"),))
    empty = extract("<p>nothing here</p>", URL, settings)
    assert refusal(empty, settings) == ("empty_result", "no field finds a value: x")
    lenient = ExtractorSettings(fields=settings.fields, fail_when_empty=False)
    assert refusal(empty, lenient) is None


def test_no_items_is_an_empty_result_that_names_the_selector() -> None:
    extraction = read(Field(name="x", query="a"), items=ItemsSelector(query=".none"))
    assert extraction.empty_reason == "css '.none' finds no item"
    assert (extraction.completeness, extraction.validation, extraction.composite) == (0, 0, 0)


def test_a_missing_required_value_fails_by_rule() -> None:
    settings = ExtractorSettings(fields=(Field(name="title", query="h1"), Field(name="x", query=".x", required=True)))
    refused = refusal(extract(PAGE, URL, settings), settings)
    assert refused is not None
    assert refused[0] == "required_missing"
    assert ".x" in refused[1]


def test_nul_and_lone_surrogates_are_replaced_and_counted_and_the_written_escape_stays() -> None:
    text = (
        '<script type="application/ld+json">{"@type":"Product","name":"A\\u0000b\\ud800","sku":"\\\\u0000",'
        '"offers":{"\\u0000key":1}}</script><h1>x\0y \\u0000</h1>'
    )
    extraction = read(
        Field(name="name", selector="jsonld", query="Product.name"),
        Field(name="sku", selector="jsonld", query="Product.sku"),
        Field(name="offers", selector="jsonld", query="Product.offers"),
        Field(name="title", query="h1"),
        text=text,
    )
    assert extraction.normalized == {
        "name": "A\ufffdb\ufffd",
        "sku": "\\u0000",
        "offers": {"\ufffdkey": 1},
        "title": "x\ufffdy \\u0000",
    }
    assert extraction.replaced_characters == 4
