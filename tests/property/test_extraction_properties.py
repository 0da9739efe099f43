"""No page breaks the extractor, and nothing it yields is unstorable."""

from decimal import Decimal

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.storable import counted
from services.ledger.workflow import ExtractorSettings, Field, ItemsSelector, Part
from services.workers.extract.extractor import extract
from services.workers.extract.values import amount_of, date_of, number_of

FIELDS = (
    Field(name="text", query="p"),
    Field(name="number", query="p", type="number"),
    Field(name="money", query="p", type="money"),
    Field(name="date", query="p", type="date"),
    Field(name="url", query="a", type="url"),
    Field(name="list", selector="xpath", query="//a", type="list"),
    Field(name="thing", selector="jsonld", query="Product.offers.price", type="integer"),
    Field(name="micro", selector="microdata", query="Product", type="object"),
    Field(name="meta", selector="opengraph", query="og:title", type="datetime", locale="de"),
    Field(name="path", selector="jsonpath", query="$..*", type="list", item_type="money"),
    Field(name="pattern", selector="regex", query="(p+)", pattern=".", type="boolean"),
    Field(name="rows", query="p", type="list", fields=(Part(name="a", query="a"), Part(name="b", query="b"))),
)
ANY_TEXT = st.text(alphabet=st.characters())  # lone surrogates and NUL too
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
)
PAGES = st.lists(
    st.sampled_from(
        [
            "<p>",
            "<a href='",
            "'>",
            '<script type="application/ld+json">',
            "</script>",
            '{"@type":"Product"}',
            "<div itemscope itemtype=Product>",
            "<b itemprop=name>",
            "<meta property=og:title content=1>",
            "</div>",
        ]
    )
    | ANY_TEXT
).map("".join)


@settings(deadline=None)
@given(PAGES, st.booleans())
def test_any_page_is_read_and_the_result_can_be_stored(page: str, as_list: bool) -> None:
    items = ItemsSelector(query="p, a") if as_list else None
    extraction = extract(page, "https://shop.example/", ExtractorSettings(fields=FIELDS, items=items))
    encoded = msgspec.json.encode(extraction.normalized)
    assert b"\\u0000" not in encoded.replace(b"\\\\", b"")
    assert 0 <= extraction.composite <= 1
    assert 0 <= extraction.completeness <= 1
    assert 0 <= extraction.validation <= 1


@given(JSON)
def test_cleaning_twice_changes_nothing_more(value: object) -> None:
    once, _ = counted(value)
    again, replaced = counted(once)
    assert replaced == 0
    assert repr(again) == repr(once)


@given(ANY_TEXT)
def test_any_text_is_a_number_or_none_and_a_date_or_none(text: str) -> None:
    number, date = number_of(text), date_of(text)
    assert number is None or abs(number) < 1e300
    assert date is None or date[:4].isdigit()


@given(st.decimals(-(10**12), 10**12, places=2), st.sampled_from([",", ".", " ", "'"]))
def test_an_amount_is_read_back_with_the_digits_it_has(amount: Decimal, mark: str) -> None:
    point = "," if mark == "." else "."
    grouped = f"{amount:,}".replace(".", "_").replace(",", mark).replace("_", point)
    assert amount_of(f"{grouped} EUR", point) == f"{amount:f}"


@given(st.integers(-(10**12), 10**12), st.sampled_from([",", ".", " ", "'"]))
def test_a_grouped_whole_number_is_read_back(number: int, mark: str) -> None:
    grouped = f"{number:,}".replace(",", mark)
    assert number_of(grouped, "," if mark == "." else ".") == number
