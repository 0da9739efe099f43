"""From the text that a selector found to the value that the field asks for; None means it is not one."""

import re
import unicodedata
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from email.utils import parsedate_to_datetime
from typing import Any, assert_never
from urllib.parse import urljoin, urlsplit

from services.ledger.workflow import Leaf, ValueType
from services.workers.extract import locales

GAP = r"['’\s\u00a0\u202f\u2009]"
NUMBER = re.compile(rf"([-+−]?\s?(?:(?:\d{{1,3}}(?:{GAP}\d{{3}})+(?!\d)|\d+)(?:[.,]\d+)*|[.,]\d+))((?:[eE][-+]?\d+)?)")
GAPS = re.compile(GAP)
SPLIT = re.compile(r"\d{1,3}([.,])(?:\d{2,3}\1)*\d{3}|\d{1,4}([.,])(?:\d{4}\2)*\d{4}")  # thousands, lakhs, myriads
RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]+")  # a note, an exponent
FRACTION = re.compile(r"(?:(?<=\d)\s)?([¼½¾⅐-⅞])")
ARABIC_MARK, ARABIC_SEPARATOR = "٫", "٬"
CURRENCY_CODE = re.compile(r"\b([A-Z]{3})\b")
DOLLAR = "$"
SIGN = re.compile(r"[A-Z]{0,3}\$|[€£¥₹₽₩₺₴₫฿₪]|zł|Kč")
CURRENCY_SIGNS = {
    "US$": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "NZ$": "NZD", "HK$": "HKD", "NT$": "TWD",
    "S$": "SGD", "SG$": "SGD", "MX$": "MXN", "R$": "BRL", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB",
    "₩": "KRW", "₺": "TRY", "₴": "UAH", "₫": "VND", "฿": "THB", "₪": "ILS", "zł": "PLN", "Kč": "CZK", DOLLAR: "USD",
}  # fmt: skip
TRUE = frozenset(("true", "yes", "1", "on", "in stock", "instock", "available", "ja", "oui", "si", "sí", "sim", "да"))
FALSE = frozenset(
    ("false", "no", "0", "off", "out of stock", "outofstock", "soldout", "unavailable", "nein", "non", "não", "нет", "")
)
DATE_FORMATS = (
    "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y", "%d-%b-%Y", "%Y%m%d",
)  # fmt: skip
MAX_NUMBER_CHARS = 10_000  # of a text in which a number is looked for
MAX_AMOUNT_DIGITS = 30
MAX_DATE_CHARS = 200
DAY_SUFFIX = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")


def value_of(raw: Any, field: Leaf, page_url: str) -> Any | None:
    """Convert what was found (text, or a value of JSON-LD) to the type of the field, or return None."""
    if field.type == "list":
        values = raw if isinstance(raw, list) else [raw]
        read = (_one(value, field.item_type, field, page_url) for value in values if value not in (None, ""))
        return [value for value in read if value is not None] or None
    if isinstance(raw, list):
        raw = next((one for one in raw if one not in (None, "", {}, [])), None)
    return _one(raw, field.type, field, page_url)


def _one(raw: Any, kind: ValueType, field: Leaf, page_url: str) -> Any | None:
    if raw is None:
        return None
    mark = field.decimal_mark or locales.decimal_mark(field.locale)
    match kind:
        case "text":
            return raw if isinstance(raw, dict) else _text(raw) or None
        case "object":
            return raw if isinstance(raw, dict) else None
        case "list":
            return raw if isinstance(raw, list) else [raw]
        case "number":
            return number_of(raw, mark)
        case "integer":
            number = number_of(raw, mark)
            return int(number) if number is not None and number == int(number) else None
        case "money":
            return _money(raw, mark, field.locale)
        case "boolean":
            return _boolean(raw)
        case "url":
            return _url(raw, page_url)
        case "date":
            return date_of(_text(raw), field.date_format, field.locale)
        case "datetime":
            when = date_of(_text(raw), field.date_format, field.locale)
            return when if when and "T" in when else None
        case _:
            assert_never(kind)


def number_of(raw: Any, decimal_mark: str = "") -> float | int | None:
    """Read the first number of a text, its decimal mark given or told from it ("1.299,00", "1,299.00", "1 299").

    One comma before exactly three digits separates thousands; one full stop is a decimal mark.
    """
    if isinstance(raw, bool):
        return None
    if isinstance(raw, int | float):
        return raw if abs(raw) < float("inf") else None
    digits = _digits(raw, decimal_mark)
    try:
        number = float(digits) if digits else None
    except ValueError:
        return None
    if number is None or abs(number) >= 1e300:
        return None
    return int(number) if number == int(number) and abs(number) < 2**53 else number


def amount_of(raw: Any, decimal_mark: str = "") -> str | None:
    """Read an amount of money exactly, as a decimal with the digits that the page shows: "1.299,00" is "1299.00"."""
    if isinstance(raw, bool):
        return None
    digits = str(raw) if isinstance(raw, int | float) else _digits(raw, decimal_mark)
    try:
        amount = Decimal(digits)
    except (InvalidOperation, ValueError):
        return None
    return format(amount, "f") if amount.is_finite() and abs(amount.adjusted()) < MAX_AMOUNT_DIGITS else None


def _digits(raw: Any, decimal_mark: str) -> str:
    """Return the first number of a text with a full stop as its decimal mark and without what separates thousands.

    Nothing where a separator does not stand as it does between thousands: `30.11.2026` is no number.
    """
    text, mark = _plain(_text(raw)[:MAX_NUMBER_CHARS], decimal_mark)
    found = NUMBER.search(text)
    if not found:
        return ""
    digits = GAPS.sub("", found[1]).replace("−", "-")
    sign = "-" if digits[0] == "-" else ""
    digits = digits.lstrip("+-")
    mark = mark or _decimal_mark(digits)
    whole, _, part = digits.partition(mark) if mark else (digits, "", "")
    if not (part or "0").isdigit() or not ((whole or "0").isdigit() or SPLIT.fullmatch(whole)):
        return ""
    return f"{sign}{re.sub('[.,]', '', whole)}.{part}{found[2]}".replace(".e", "e").replace(".E", "E").removesuffix(".")


def _plain(text: str, mark: str) -> tuple[str, str]:
    """Return a text with digits and marks as ASCII has them, and the decimal mark where that tells it."""
    text = FRACTION.sub(lambda found: (mark or ".") + _decimals(found[1]), RAISED.sub(" ", text))
    text = unicodedata.normalize("NFKC", text)
    if ARABIC_MARK in text or ARABIC_SEPARATOR in text:
        return text.replace(ARABIC_SEPARATOR, "").replace(ARABIC_MARK, "."), "."
    return text, mark


def _decimals(fraction: str) -> str:
    return f"{unicodedata.numeric(fraction):.4f}"[2:].rstrip("0")


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


def _money(raw: Any, decimal_mark: str, locale: str) -> dict[str, Any] | None:
    if isinstance(raw, dict):  # an Offer or PriceSpecification
        amount = amount_of(raw.get("price", raw.get("lowPrice", raw.get("value"))), decimal_mark)
        currency = _text(raw.get("priceCurrency", raw.get("currency", "")))
    else:
        text = _text(raw)
        amount = amount_of(raw, decimal_mark)
        currency = _currency(text, locale)
    return None if amount is None else {"amount": amount, "currency": currency or None}


def _currency(text: str, locale: str) -> str:
    """Return the currency that a text names: by its code, else by its first sign; whose `$` it is the locale says."""
    codes = (code for code in CURRENCY_CODE.findall(text) if locales.is_currency(code))
    if code := next(codes, ""):
        return code
    if found := SIGN.search(text):
        sign = found.group()
        own = "" if sign.endswith(DOLLAR) and sign != DOLLAR else locales.currency_of(locale, sign)
        return own or CURRENCY_SIGNS.get(sign, "")  # a dollar of which nobody knows whose it is has none
    return locales.currency_of(locale, text)


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


def date_of(text: str, date_format: str = "", locale: str = "") -> str | None:
    """Read a date or a time as ISO 8601; what could be day or month first needs a format or a locale."""
    if date_format:
        return _iso(text, date_format)
    text = text[:MAX_DATE_CHARS]
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
        when = locales.moment_of(locale, text) if locale else None
    return when.isoformat() if when else None


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
