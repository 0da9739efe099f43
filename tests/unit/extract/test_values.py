"""From texts to values."""

from typing import Any

import pytest

from services.ledger.workflow import Field
from services.workers.extract.values import date_of, number_of, value_of

URL = "https://shop.example/a/b?c"


def value(raw: Any, **field: Any) -> Any:
    return value_of(raw, Field(name="f", query="x", **field), URL)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.299,00 €", 1299),
        ("$1,299.00", 1299),
        ("1 299,50", 1299.5),
        ("1\u00a0299,50", 1299.5),
        ("1'299.50", 1299.5),
        ("1,299", 1299),
        ("12,5", 12.5),
        ("0,125", 0.125),
        ("1.234.567", 1234567),
        ("-5", -5),
        ("−5", -5),
        ("about 3.5 kg", 3.5),
        ("1e3", 1000),
        ("٣", 3),
        ("١٬٢٣٤٫٥٦", 1234.56),
        ("12,34,567", 1234567),
        ("1.5e3", 1500),
        (".5", 0.5),
        ("2½", 2.5),
        ("2 ½ stars", 2.5),
        ("⅓", 0.3333),
        ("$19.99¹", 19.99),
        ("4.5 12 reviews", 4.5),
        ("1 2 3", 1),
        ("1..2", 1),
        ("30.11.2026", None),
        ("192.168.0.1", None),
        ("1,2,3", None),
        ("free", None),
        ("", None),
        (12.5, 12.5),
        (True, None),
        (float("inf"), None),
        (float("nan"), None),
        ("9" * 400, None),
    ],
)
def test_a_number_is_read_with_the_marks_of_its_country(text: Any, number: float | None) -> None:
    assert number_of(text) == number


def test_a_given_decimal_mark_settles_what_is_ambiguous() -> None:
    assert value("1.250", type="number") == 1.25
    assert value("1.250", type="number", decimal_mark=",") == 1250
    assert value("2½", type="number", decimal_mark=",") == 2.5
    assert value("19.99", type="number", decimal_mark=",") is None, "nor is it 1999"
    assert value("1,234.56", type="number", decimal_mark=",") is None, "nor is it 1.23456"


def test_an_integer_is_a_whole_number() -> None:
    assert value("1,299 pieces", type="integer") == 1299
    assert value("12.5", type="integer") is None


@pytest.mark.parametrize(
    ("raw", "money"),
    [
        ("1.299,00 €", {"amount": "1299.00", "currency": "EUR"}),
        ("CHF 12.50", {"amount": "12.50", "currency": "CHF"}),
        ("SKU 12.50", {"amount": "12.50", "currency": None}),
        ("CA$5", {"amount": "5", "currency": "CAD"}),
        ("HK$ 5", {"amount": "5", "currency": "HKD"}),
        ("XX$ 5", {"amount": "5", "currency": None}),
        ("€5 $6", {"amount": "5", "currency": "EUR"}),
        ({"price": "9.90", "priceCurrency": "GBP"}, {"amount": "9.90", "currency": "GBP"}),
        ("on request", None),
    ],
)
def test_money_keeps_its_currency(raw: Any, money: dict[str, Any] | None) -> None:
    assert value(raw, type="money") == money


@pytest.mark.parametrize(
    ("text", "currency"),
    [("$5", "CAD"), ("US$ 5", "USD"), ("€5 $6", "EUR"), ("5 kr", None), ("HK$5", "HKD"), ("5 EUR, $6", "EUR")],
)
def test_a_locale_says_whose_dollar_it_is_and_nothing_of_other_signs(text: str, currency: str | None) -> None:
    assert value(text, type="money", locale="en-CA")["currency"] == currency
    assert value("5 kr", type="money", locale="sv-SE")["currency"] == "SEK"


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2026-05-01", "2026-05-01"),
        ("2026-05-01T10:00:00Z", "2026-05-01T10:00:00Z"),
        ("2026-05-01T10:00:00+02:00", "2026-05-01T10:00:00+02:00"),
        ("May 1st, 2026", "2026-05-01"),
        ("1 May 2026", "2026-05-01"),
        ("01.05.2026", "2026-05-01"),
        ("Fri, 01 May 2026 10:00:00 GMT", "2026-05-01T10:00:00Z"),
        ("05/06/2026", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_a_date_becomes_iso_8601_unless_it_is_ambiguous(text: str, date: str | None) -> None:
    assert date_of(text) == date


def test_a_date_format_settles_what_is_ambiguous() -> None:
    assert value("05/06/2026", type="date", date_format="%d/%m/%Y") == "2026-06-05"
    assert value("05/06/2026 10:30", type="date", date_format="%m/%d/%Y %H:%M") == "2026-05-06T10:30:00"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("/p/1", "https://shop.example/p/1"),
        ("p", "https://shop.example/a/p"),
        ("//cdn.example/i.png", "https://cdn.example/i.png"),
        ("https://other.example", "https://other.example"),
        ("javascript:void(0)", None),
        ("http://[", None),
    ],
)
def test_a_url_is_made_absolute(text: str, url: str | None) -> None:
    assert value(text, type="url") == url


def test_a_boolean_is_read_from_words_and_from_schema_org() -> None:
    assert value("https://schema.org/InStock", type="boolean") is True
    assert value("Out of stock", type="boolean") is False
    assert value("perhaps", type="boolean") is None


def test_a_list_keeps_every_value_and_other_types_take_the_first() -> None:
    assert value(["a", " b  c ", ""], type="list") == ["a", "b c"]
    assert value(["a", "b"]) == "a"
    assert value([], type="list") is None
