"""How numbers, amounts and dates are written in a language, from the locale data of Unicode."""

import re
from datetime import date, datetime
from functools import lru_cache

from babel import Locale, UnknownLocaleError
from babel.numbers import get_currency_symbol, get_decimal_symbol, get_territory_currencies, list_currencies

TIME = re.compile(r"(\d{1,2})[:h](\d{2})(?::(\d{2}))?\s*([ap]\.?m\.?)?(?!\d)", re.I)
NUMBERS = re.compile(r"\d{1,4}")
ORDERS = {"d": "day", "M": "month", "y": "year", "L": "month"}


@lru_cache(maxsize=256)
def locale_of(name: str) -> Locale | None:
    """Return a locale by its name, as `de`, `de-AT` or `pt_BR`; None for one that Unicode does not know."""
    try:
        return Locale.parse(name.replace("-", "_")) if name else None
    except (UnknownLocaleError, ValueError):
        return None


def is_currency(code: str) -> bool:
    """Say whether there is or was a currency of this ISO 4217 code."""
    return code in _currencies()


@lru_cache(maxsize=1)
def _currencies() -> frozenset[str]:
    return frozenset(list_currencies())


def decimal_mark(name: str) -> str:
    """Return the decimal mark of a locale, or nothing."""
    locale = locale_of(name)
    mark = get_decimal_symbol(locale) if locale else ""
    return mark if mark in (".", ",") else ""


def currency_of(name: str, text: str) -> str:
    """Return the currency of a locale's country where the text has its sign: `$` is CAD in `en-CA`."""
    locale = locale_of(name)
    if locale is None or not locale.territory:
        return ""
    for code in get_territory_currencies(locale.territory):
        if get_currency_symbol(code, locale) in text:
            return str(code)
    return ""


@lru_cache(maxsize=256)
def _months(name: str) -> dict[str, int]:
    locale = locale_of(name)
    months: dict[str, int] = {}
    for forms in locale.months.values() if locale else ():
        for width, names in forms.items():
            if width != "narrow":
                months.update({str(word).lower().rstrip("."): number for number, word in names.items()})
    longest_first = sorted(months.items(), key=lambda one: -len(one[0]))  # "march" before "mar"
    return {word: number for word, number in longest_first if not word.isdigit()}


@lru_cache(maxsize=256)
def _order(name: str) -> tuple[str, ...]:
    locale = locale_of(name)
    pattern = str(locale.date_formats["short"].pattern) if locale else ""
    return tuple(dict.fromkeys(ORDERS[letter] for letter in pattern if letter in ORDERS))


def moment_of(name: str, text: str) -> date | datetime | None:
    """Read a date, or a date with a time, as the locale writes it: names of months, order of day and month."""
    lowered = text.lower()
    time = TIME.search(lowered)
    rest = lowered[: time.start()] + " " + lowered[time.end() :] if time else lowered
    month, rest = _named_month(name, rest)
    numbers = [int(number) for number in NUMBERS.findall(rest)]
    if len(numbers) != (2 if month else 3):
        return None
    order = [part for part in _order(name) if not (month and part == "month")]
    if numbers[0] > 31:
        order = [part for part in ("year", "month", "day") if not (month and part == "month")]
    parts = dict(zip(order, numbers, strict=False)) | ({"month": month} if month else {})
    if len(parts) != 3:
        return None
    year = parts["year"] + (2000 if parts["year"] < 70 else 1900 if parts["year"] < 100 else 0)
    try:
        day = date(year, parts["month"], parts["day"])
        return _with_time(day, time) if time else day
    except ValueError:
        return None


def _named_month(name: str, text: str) -> tuple[int, str]:
    for word, number in _months(name).items():
        found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)|(?<=\d){re.escape(word)}", text)
        if found:
            return number, text[: found.start()] + " " + text[found.end() :]
    return 0, text


def _with_time(day: date, time: re.Match[str]) -> datetime:
    hour = int(time.group(1))
    if time.group(4):
        hour = hour % 12 + (12 if time.group(4).startswith("p") else 0)
    return datetime(day.year, day.month, day.day, hour, int(time.group(2)), int(time.group(3) or 0))  # noqa: DTZ001
