"""Every kind of selector and every type of value, side by side."""

from typing import Any

import pytest
from parsel import Selector

from services.ledger.workflow import ExtractorSettings, Field, ItemsSelector, Leaf, Part
from services.workers.extract import jsonpaths, microdata
from services.workers.extract.extractor import Extraction, extract, refusal

URL = "https://shop.example/list/"
PAGE = """<html><head>
<meta property="og:title" content="Kettles"><meta property="og:image" content="/1.jpg">
<meta property="og:image" content="/2.jpg"><meta name="twitter:card" content="summary">
<script type="application/json" id="state">{"props": {"product": {"sku": "K-7", "price": 1299, "sold": false,
 "variants": [{"size": "S", "stock": 1}, {"size": "L", "stock": 0}]}}}</script>
<script type="application/ld+json">{"@graph": [
 {"@type": "Product", "@id": "#p", "name": "Kettle", "brand": {"@id": "#b"}, "isSimilarTo": [{"@id": "#p"}]},
 {"@type": "Brand", "@id": "#b", "name": "Boil", "owner": {"@id": "#p"}}]}</script></head><body>
<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Kettle</h1>
 <img itemprop="image" src="/a.jpg"><img itemprop="image" src="/b.jpg">
 <div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
  <p><b><span itemprop="price" content="49.90">49,90</span></b></p><meta itemprop="priceCurrency" content="EUR">
  <time itemprop="validThrough" datetime="2026-12-31T10:00:00Z">soon</time></div></div>
<table><tr><td>One</td><td class="p">1.299,50 €</td></tr><tr><td>Two</td><td class="p">7,00 €</td></tr></table>
<p class="seen">Zuletzt gesehen am 12. März 2026 um 14:30 Uhr</p>
</body></html>"""


def read(*fields: Field, text: str = PAGE, **settings: Any) -> Extraction:
    return extract(text, URL, ExtractorSettings(fields=fields, **settings))


def value(text: str = PAGE, **field: Any) -> Any:
    return read(Field(name="f", **field), text=text).normalized["f"]


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ({"selector": "opengraph", "query": "og:title"}, "Kettles"),
        ({"selector": "opengraph", "query": "og:image", "type": "url"}, "https://shop.example/1.jpg"),
        (
            {"selector": "opengraph", "query": "og:image", "type": "list", "item_type": "url"},
            ["https://shop.example/1.jpg", "https://shop.example/2.jpg"],
        ),
        ({"selector": "opengraph", "query": "twitter:card"}, "summary"),
        ({"selector": "microdata", "query": "Product.name"}, "Kettle"),
        ({"selector": "microdata", "query": "Product.image[1]", "type": "url"}, "https://shop.example/b.jpg"),
        ({"selector": "microdata", "query": "Offer", "type": "money"}, {"amount": "49.90", "currency": "EUR"}),
        ({"selector": "microdata", "query": "Offer.validThrough", "type": "datetime"}, "2026-12-31T10:00:00Z"),
        ({"selector": "jsonpath", "query": "$.props.product.sku"}, "K-7"),
        ({"selector": "jsonpath", "query": "$.props.product.sold", "type": "boolean"}, False),
        ({"selector": "jsonpath", "query": "$..variants[?@.stock > 0].size"}, "S"),
        ({"selector": "jsonpath", "query": "$..size", "type": "list"}, ["S", "L"]),
        ({"selector": "jsonpath", "query": "$..variants[0]", "type": "object"}, {"size": "S", "stock": 1}),
        ({"selector": "jsonpath", "query": "$..variants[?match(@.size, '[L-M]')].stock", "type": "integer"}, 0),
        ({"selector": "regex", "query": r'"sku": "(\w+-\d+)"'}, "K-7"),
        ({"selector": "regex", "query": "K-7"}, "K-7"),
        ({"selector": "regex", "query": r'"size": "(\w)"', "type": "list"}, ["S", "L"]),
        ({"query": ".seen", "type": "date", "locale": "de", "pattern": "am (.*) um"}, "2026-03-12"),
        ({"query": ".seen", "type": "datetime", "locale": "de", "pattern": "am (.*)"}, "2026-03-12T14:30:00"),
        ({"query": ".p", "type": "money"}, {"amount": "1299.50", "currency": "EUR"}),
        (
            {"query": ".p", "type": "list", "item_type": "number", "locale": "de-DE"},
            [1299.5, 7],
        ),
        ({"selector": "jsonld", "query": "Product.brand.name"}, "Boil"),
        ({"selector": "jsonld", "query": "Product.brand.owner.brand.owner.name"}, "Kettle"),
        ({"selector": "jsonld", "query": "Product.isSimilarTo.name"}, "Kettle"),
    ],
)
def test_a_value_is_found_by_its_kind_of_selector(field: dict[str, Any], expected: Any) -> None:
    assert value(**field) == expected


def test_a_body_of_json_is_read_by_jsonpath() -> None:
    assert value('{"a": [{"b": 1}, {"b": 2}]}', selector="jsonpath", query="$.a[1].b", type="integer") == 2


@pytest.mark.parametrize(
    ("text", "locale", "date"),
    [
        ("15 janvier 2026", "fr", "2026-01-15"),
        ("5 мая 2026 г.", "ru", "2026-05-05"),
        ("2026年5月1日 10:30", "ja", "2026-05-01T10:30:00"),
        ("3 de mayo de 2026", "es", "2026-05-03"),
        ("05/06/2026 3:15 pm", "en-US", "2026-05-06T15:15:00"),
        ("05/06/2026", "en-GB", "2026-06-05"),
        ("5.6.26", "de", "2026-06-05"),
        ("2026 mai 5", "fr", "2026-05-05"),
        ("31/12", "en-GB", None),
        ("35.12.2026", "de", None),
        ("5 mai 2026", "xx", None),
    ],
)
def test_a_locale_settles_how_dates_are_written(text: str, locale: str, date: str | None) -> None:
    assert value(f"<p>{text}", query="p", type="date", locale=locale) == date


@pytest.mark.parametrize(
    ("text", "locale", "money"),
    [
        ("$ 12.50", "en-CA", {"amount": "12.50", "currency": "CAD"}),
        ("$ 12.50", "", {"amount": "12.50", "currency": "USD"}),
        ("12 kr", "sv-SE", {"amount": "12", "currency": "SEK"}),
        ("1.250", "de-DE", {"amount": "1250", "currency": None}),
        ("₹ 12,34,567.50", "", {"amount": "1234567.50", "currency": "INR"}),
        ("0.10 EUR", "", {"amount": "0.10", "currency": "EUR"}),
        ("12345678901234567890.12 USD", "", {"amount": "12345678901234567890.12", "currency": "USD"}),
    ],
)
def test_an_amount_is_exact_and_its_sign_is_read_by_locale(text: str, locale: str, money: Any) -> None:
    assert value(f"<p>{text}", query="p", type="money", locale=locale) == money


ROWS = Field(
    name="rows",
    query="tr",
    type="list",
    fields=(
        Part(name="name", query="td"),
        Part(name="price", query="td", type="object", fields=(Leaf(name="text", query=".//text()", selector="xpath"),)),
        Part(name="paid", query=".p", type="money", required=True),
    ),
)


def test_objects_are_read_inside_of_what_their_query_finds() -> None:
    extraction = read(ROWS)
    assert extraction.normalized["rows"][1] == {
        "name": "Two",
        "price": {"text": "Two"},
        "paid": {"amount": "7.00", "currency": "EUR"},
    }
    assert (extraction.completeness, extraction.validation) == (1.0, 1.0)


def test_objects_of_json_are_read_by_their_own_kind() -> None:
    size = Part(name="size", selector="jsonpath", query="$.size")
    stock = Part(name="stock", selector="jsonpath", query="$.stock", type="integer")
    field = Field(name="all", selector="jsonpath", query="$..variants", type="list", fields=(size, stock))
    assert read(field).normalized == {"all": [{"size": "S", "stock": 1}, {"size": "L", "stock": 0}]}


def test_an_object_that_is_not_there_counts_by_its_fields() -> None:
    gone = Field(
        name="gone", query=".gone", type="object", fields=(Part(name="a", query="a"), Part(name="b", query="b"))
    )
    extraction = read(Field(name="title", query="h1"), gone)
    assert extraction.normalized["gone"] is None
    assert extraction.completeness == pytest.approx(1 / 3, abs=1e-4)


def test_a_required_value_in_an_object_is_named_by_its_path() -> None:
    settings = ExtractorSettings(fields=(ROWS,))
    page = "<table><tr><td>One</td></tr></table>"
    refused = refusal(extract(page, URL, settings), settings)
    assert refused == ("required_missing", "item 0: rows[0].paid: css '.p' finds nothing")


@pytest.mark.parametrize(
    ("items", "count"),
    [
        (ItemsSelector(selector="microdata", query="Product"), 1),
        (ItemsSelector(selector="jsonpath", query="$..variants"), 2),
        (ItemsSelector(selector="regex", query=r"<tr>(.*?)</tr>"), 2),
        (ItemsSelector(selector="xpath", query="//tr"), 2),
        (ItemsSelector(selector="opengraph", query="og:image"), 0),
    ],
)
def test_items_are_found_by_any_kind(items: ItemsSelector, count: int) -> None:
    assert len(read(Field(name="x", selector="regex", query="."), items=items).items) == count


def test_too_little_is_refused_where_the_workflow_says_so() -> None:
    settings = ExtractorSettings(
        fields=(Field(name="a", query="h1"), Field(name="b", query=".none")), min_completeness=0.75
    )
    assert refusal(extract(PAGE, URL, settings), settings) == ("incomplete", "completeness 0.5 is below 0.75")


def test_a_search_passes_over_a_document_that_is_too_large_for_it_and_a_path_does_not() -> None:
    large = jsonpaths.Json({"a": 1}, jsonpaths.MAX_SEARCHED + 1)
    small = jsonpaths.Json({"a": 2}, 1)
    assert jsonpaths.found("$..a", [large, small]) == [2]
    assert jsonpaths.found("$.a", [large, small]) == [1]


@pytest.mark.parametrize("kind", ["text", "url", "list"])
def test_what_xpath_finds_beside_elements_is_read_and_is_no_item(kind: Any) -> None:
    text = "<p>x<!--seen--></p>"
    assert value(text, query="//comment()", selector="xpath", type=kind) in (
        "seen",
        ["seen"],
        "https://shop.example/list/seen",
    )
    assert "XML" in str(value(text, query="//p/namespace::*", selector="xpath"))
    items = ItemsSelector(selector="xpath", query="//comment() | //namespace::*")
    assert read(Field(name="f", query="p"), text=text, items=items).items == []


def test_a_number_without_end_in_a_jsonpath_finds_nothing() -> None:
    assert value("[1, 2]", query="$[?@ > 1e400]", selector="jsonpath", type="number") is None


def test_the_microdata_of_an_item_is_read_once_for_all_its_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    things_of = microdata.things_of

    def counted(scope: Selector) -> list[dict[str, Any]]:
        asked.append(scope.root.tag)
        return things_of(scope)

    monkeypatch.setattr(microdata, "things_of", counted)
    page = "<div itemscope itemtype=Product><b itemprop=name>A</b><i itemprop=sku>1</i></div>" * 2
    fields = [Field(name=name, selector="microdata", query=f"Product.{name}") for name in ("name", "sku")]
    found = read(*fields, text=page, items=ItemsSelector(query="div"))
    assert found.items == [{"name": "A", "sku": "1"}] * 2
    assert sorted(asked) == ["div", "div", "html"]


@pytest.mark.parametrize("query", ["//b|//p", " //b | //p", "(//b | //p)[1]", "//*[.='//b' or self::p or self::b]"])
def test_no_part_of_an_xpath_leaves_its_item(query: str) -> None:
    text = "<div><p>1</p></div><div><b>2</b></div>"
    found = read(Field(name="f", query=query, selector="xpath"), text=text, items=ItemsSelector(query="div"))
    assert found.items == [{"f": "1"}, {"f": "2"}]
