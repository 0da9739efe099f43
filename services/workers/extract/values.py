"""From the text that a selector found to the value that the field asks for; None means it is not one."""

import re
import unicodedata
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, assert_never
from urllib.parse import urljoin, urlsplit

from services.ledger.workflow import Field

NUMBER = re.compile(r"[-+−]?\s?(?:\d[\d.,'’\s\u00a0\u202f\u2009]*\d|\d|[.,]\d+)(?:[eE][-+]?\d+)?")
GAPS = re.compile(r"['’\s\u00a0\u202f\u2009]")
CURRENCY_CODE = re.compile(r"\b([A-Z]{3})\b")
CURRENCY_SIGNS = {
    "US$": "USD", "A$": "AUD", "C$": "CAD", "R$": "BRL", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB",
    "₩": "KRW", "₺": "TRY", "₴": "UAH", "₫": "VND", "฿": "THB", "₪": "ILS", "zł": "PLN", "Kč": "CZK", "$": "USD",
}  # fmt: skip
CURRENCIES = frozenset((
    "USD", "EUR", "GBP", "JPY", "CNY", "INR", "AUD", "CAD", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RON",
    "BGN", "TRY", "RUB", "UAH", "BRL", "MXN", "ARS", "CLP", "COP", "ZAR", "KRW", "THB", "VND", "IDR", "MYR", "PHP",
    "SGD", "HKD", "TWD", "NZD", "ILS", "AED", "SAR", "EGP", "NGN", "KES",
))  # fmt: skip
TRUE = frozenset(("true", "yes", "1", "on", "in stock", "instock", "available", "ja", "oui", "si", "sí", "sim", "да"))
FALSE = frozenset(
    ("false", "no", "0", "off", "out of stock", "outofstock", "soldout", "unavailable", "nein", "non", "não", "нет", "")
)
DATE_FORMATS = (
    "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y", "%d-%b-%Y", "%Y%m%d",
)  # fmt: skip
DAY_SUFFIX = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")


def value_of(raw: Any, field: Field, page_url: str) -> Any | None:
    """Convert what was found (text, or a value of JSON-LD) to the type of the field, or return None."""
    if field.type == "list":
        values = raw if isinstance(raw, list) else [raw]
        return [one if isinstance(one, dict) else _text(one) for one in values if one not in (None, "")] or None
    if isinstance(raw, list):
        raw = next((one for one in raw if one not in (None, "", {}, [])), None)
    if raw is None:
        return None
    match field.type:
        case "text":
            return raw if isinstance(raw, dict) else _text(raw) or None
        case "number":
            return number_of(raw, field.decimal_mark)
        case "integer":
            number = number_of(raw, field.decimal_mark)
            return int(number) if number is not None and number == int(number) else None
        case "money":
            return _money(raw, field.decimal_mark)
        case "boolean":
            return _boolean(raw)
        case "url":
            return _url(raw, page_url)
        case "date":
            return date_of(_text(raw), field.date_format)
        case _:
            assert_never(field.type)


def number_of(raw: Any, decimal_mark: str = "") -> float | int | None:
    """Read the first number of a text, its decimal mark given or told from it ("1.299,00", "1,299.00", "1 299").

    One comma before exactly three digits separates thousands; one full stop is a decimal mark.
    """
    if isinstance(raw, bool):
        return None
    if isinstance(raw, int | float):
        return raw if abs(raw) < float("inf") else None
    found = NUMBER.search(unicodedata.normalize("NFKC", _text(raw)))
    if not found:
        return None
    digits = GAPS.sub("", found.group()).replace("−", "-")
    mark = decimal_mark or _decimal_mark(digits)
    for other in {".", ","} - {mark}:
        digits = digits.replace(other, "")
    try:
        number = float(digits.replace(mark, ".") if mark else digits)
    except ValueError:
        return None
    if abs(number) >= 1e300:
        return None
    return int(number) if number == int(number) and abs(number) < 2**53 else number


def _decimal_mark(digits: str) -> str:
    stops, commas = digits.count("."), digits.count(",")
    if stops and commas:
        return "." if digits.rindex(".") > digits.rindex(",") else ","
    if stops > 1 or commas > 1:
        return ""
    if commas:
        whole, _, part = digits.partition(",")
        return "" if len(part) == 3 and whole.strip("+-") not in ("", "0") else ","
    return "."


def _money(raw: Any, decimal_mark: str) -> dict[str, Any] | None:
    if isinstance(raw, dict):  # an Offer or PriceSpecification
        amount = number_of(raw.get("price", raw.get("lowPrice", raw.get("value"))), decimal_mark)
        currency = _text(raw.get("priceCurrency", raw.get("currency", "")))
    else:
        text = _text(raw)
        amount = number_of(raw, decimal_mark)
        codes = [code for code in CURRENCY_CODE.findall(text) if code in CURRENCIES]
        signs = [code for sign, code in CURRENCY_SIGNS.items() if sign in text]
        currency = (codes or signs or [""])[0]
    return None if amount is None else {"amount": amount, "currency": currency or None}


def _boolean(raw: Any) -> bool | None:
    if isinstance(raw, bool):
        return raw
    text = _text(raw).lower().rpartition("/")[2]  # https://schema.org/InStock
    return True if text in TRUE else False if text in FALSE else None


def _url(raw: Any, page_url: str) -> str | None:
    if isinstance(raw, dict):
        raw = raw.get("url") or raw.get("contentUrl") or raw.get("@id") or ""
    try:
        url = urljoin(page_url, _text(raw))
        return url if urlsplit(url).scheme in ("http", "https") and urlsplit(url).netloc else None
    except ValueError:
        return None


def date_of(text: str, date_format: str = "") -> str | None:
    """Read a date or a time as ISO 8601; what could be day or month first needs the format of the field."""
    if date_format:
        return _iso(text, date_format)
    try:
        return _shown(datetime.fromisoformat(text), has_time=len(text) > 10)
    except ValueError:
        pass
    plain = DAY_SUFFIX.sub("", text).replace(",", " ")
    plain = " ".join(plain.split())
    for known in DATE_FORMATS:
        found = _iso(plain, known)
        if found:
            return found
    try:
        return _shown(parsedate_to_datetime(text), has_time=True)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _iso(text: str, date_format: str) -> str | None:
    try:
        # the zone, where there is one, is kept by %z; a date has none
        return _shown(datetime.strptime(text, date_format), has_time="%H" in date_format)  # noqa: DTZ007
    except (ValueError, re.error):
        return None


def _shown(when: datetime, *, has_time: bool) -> str:
    if not has_time:
        return when.date().isoformat()
    text = when.isoformat()
    return text.removesuffix("+00:00") + "Z" if when.tzinfo and when.utcoffset() == UTC.utcoffset(None) else text


def _text(raw: Any) -> str:
    if isinstance(raw, dict):
        raw = raw.get("name") or raw.get("@value") or raw.get("url") or raw.get("text") or ""
    return " ".join(str(raw).split()) if raw is not None else ""
