"""Reads the items of a page as an extractor node asks, with a measure of how complete and valid they are.

completeness  values found / values asked for, over all items and fields; a default counts as not found
validation    values that passed their type / values checked, a missing required value being one that failed
composite     0.6 * completeness + 0.4 * validation
All three are 0 when there is no item.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

from parsel import Selector

from schemas.storable import counted, counted_text
from services.ledger.workflow import ExtractorSettings, Field
from services.workers.extract import jsonld
from services.workers.extract.selectors import nodes, raw_values
from services.workers.extract.values import value_of

COMPLETENESS_WEIGHT = 0.6
VALIDATION_WEIGHT = 0.4
MAX_ITEMS = 10_000
CONTROLS = re.compile(r"[\x01-\x08\x0b\x0e-\x1f\ufffe\uffff]")
JSONLD_SCRIPTS = "//script[contains(@type, 'ld+json')]/text()"

Refusal = Literal["empty_result", "required_missing"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that went wrong with a value; `item` counts from 0."""

    item: int
    field: str
    code: Literal["missing", "invalid", "too_many_items", "broken_jsonld"]
    message: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was read; `normalized` is the one item of a page, or {"items": [...]} of a list page."""

    items: list[dict[str, Any]]
    normalized: dict[str, Any]
    completeness: float
    validation: float
    composite: float
    problems: list[Problem]
    replaced_characters: int  # NUL and lone surrogates that became U+FFFD
    empty_reason: str  # why there is no value at all; empty when there is one


@dataclass(slots=True)
class _Tally:
    asked: int = 0
    found: int = 0
    checked: int = 0
    valid: int = 0


def extract(text: str, url: str, settings: ExtractorSettings) -> Extraction:
    """Read a page, given as text and the address it came from; never raises for what the page holds."""
    text, replaced = counted_text(text)
    text = CONTROLS.sub(" ", text)  # the parser takes them in names and then cannot give them back
    page = Selector(text=text or "<html></html>", type="html")
    things, broken = jsonld.things_of(page.xpath(JSONLD_SCRIPTS).getall())
    problems = [Problem(0, "", "broken_jsonld", f"{broken} JSON-LD scripts cannot be read")] if broken else []
    scopes = _scopes(page, things, settings)
    if len(scopes) > MAX_ITEMS:
        problems.append(
            Problem(MAX_ITEMS, "", "too_many_items", f"only the first {MAX_ITEMS} of {len(scopes)} were read")
        )
    tally = _Tally()
    items = [
        _item(number, scope, things, url, settings, tally, problems) for number, scope in enumerate(scopes[:MAX_ITEMS])
    ]
    empty_reason = _empty_reason(items, tally, settings)
    cleaned, in_values = counted(items)
    completeness = tally.found / tally.asked if tally.asked else 0.0
    validation = tally.valid / tally.checked if tally.checked else float(bool(items))
    return Extraction(
        items=cleaned,
        normalized={"items": cleaned} if settings.items else (cleaned[0] if cleaned else {}),
        completeness=round(completeness, 4),
        validation=round(validation, 4),
        composite=round(COMPLETENESS_WEIGHT * completeness + VALIDATION_WEIGHT * validation, 4),
        problems=problems,
        replaced_characters=replaced + in_values,
        empty_reason=empty_reason,
    )


def refusal(extraction: Extraction, settings: ExtractorSettings) -> tuple[Refusal, str] | None:
    """Return the rule by which an extraction fails its node, with evidence, or None."""
    if extraction.empty_reason and settings.fail_when_empty:
        return "empty_result", extraction.empty_reason
    required = {field.name for field in settings.fields if field.required}
    missing = [problem for problem in extraction.problems if problem.field in required]
    if missing and settings.fail_when_required_missing:
        return "required_missing", f"item {missing[0].item}: {missing[0].message}"
    return None


_Scope = Selector | dict[str, Any]


def _scopes(page: Selector, things: list[dict[str, Any]], settings: ExtractorSettings) -> list[_Scope]:
    if settings.items is None:
        return [page]
    if settings.items.selector == "jsonld":
        return list(jsonld.all_at(settings.items.query, things))
    return list(nodes(page, settings.items.selector, settings.items.query))


def _item(
    number: int,
    scope: _Scope,
    things: list[dict[str, Any]],
    url: str,
    settings: ExtractorSettings,
    tally: _Tally,
    problems: list[Problem],
) -> dict[str, Any]:
    item: dict[str, Any] = {}
    for field in settings.fields:
        raw = _raw(scope, things, field, inside=settings.items is not None)
        value = value_of(raw, field, url)
        tally.asked += 1
        if value is not None:
            tally.found += 1
            tally.checked += 1
            tally.valid += 1
        elif raw:
            tally.checked += 1
            message = f"{field.name}: {str(raw)[:100]!r} is not a {field.type}"
            problems.append(Problem(number, field.name, "invalid", message))
        elif field.required and field.default is None:
            tally.checked += 1
            message = f"{field.name}: {field.selector} {field.query!r} finds nothing"
            problems.append(Problem(number, field.name, "missing", message))
        item[field.name] = field.default if value is None else value
    return item


def _raw(scope: _Scope, things: list[dict[str, Any]], field: Field, *, inside: bool) -> Any | None:
    if isinstance(scope, dict):
        return jsonld.found_at(field.query, [scope]) if field.selector == "jsonld" else None
    if field.selector == "jsonld":
        return jsonld.found_at(field.query, things)
    return raw_values(nodes(scope, field.selector, field.query, inside=inside), field) or None


def _empty_reason(items: list[dict[str, Any]], tally: _Tally, settings: ExtractorSettings) -> str:
    if not items and settings.items:
        return f"{settings.items.selector} {settings.items.query!r} finds no item"
    if not tally.found:
        return "no field finds a value"
    return ""
