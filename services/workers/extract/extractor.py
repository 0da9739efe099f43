"""Reads the items of a page as an extractor node asks, with a measure of how complete and valid they are.

completeness  values found / values asked for, over all items and fields; a default counts as not found
validation    values that passed their type / values checked, a missing required value being one that failed
composite     0.6 * completeness + 0.4 * validation
All three are 0 when there is no item. An object counts by its fields; one that is not there counts them as not found.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from schemas.storable import counted, counted_text
from services.ledger.workflow import ExtractorSettings, Leaf, Part
from services.workers.extract import patterns
from services.workers.extract.size import MAX_CHARS, chars_of
from services.workers.extract.values import value_of
from services.workers.extract.view import Scope, View, too_hard

COMPLETENESS_WEIGHT = 0.6
VALIDATION_WEIGHT = 0.4
MAX_ITEMS = 10_000
MAX_VALUES = 200_000  # of all items together
MAX_PROBLEMS = 1_000
CONTROLS = re.compile(r"[\x01-\x08\x0b\x0e-\x1f\ufffe\uffff]")

Refusal = Literal["empty_result", "required_missing", "incomplete"]
Code = Literal["missing", "invalid", "too_many_items", "too_many_values", "broken_jsonld", "too_large"]
Tell = Callable[[str], None]  # the name of the field that is read


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that went wrong with a value; `item` counts from 0."""

    item: int
    field: str
    code: Code
    message: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was read; `normalized` is the one item of a page, or {"items": [...]} of a list page."""

    items: list[dict[str, Any]]
    normalized: dict[str, Any]
    completeness: float
    validation: float
    composite: float
    problems: list[Problem]  # the first of them
    replaced_characters: int  # NUL and lone surrogates that became U+FFFD
    empty_reason: str  # why there is no value at all; empty when there is one
    unmet: str = ""  # the first required value that is missing or invalid


@dataclass(slots=True)
class _Reading:
    """One run: what it counts, and what goes wrong."""

    url: str
    tell: Tell
    asked: int = 0
    found: int = 0
    checked: int = 0
    valid: int = 0
    chars: int = 0  # of the values found
    problems: list[Problem] = field(default_factory=list)
    unmet: str = ""

    @property
    def full(self) -> bool:
        """Whether no value is taken any more."""
        return self.chars > MAX_CHARS

    def note(self, item: int, name: str, code: Code, message: str, *, required: bool = False) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(item, name, code, message))
        if required and not self.unmet:
            self.unmet = f"item {item}: {message}"


def untold(name: str) -> None:
    """Tell nobody which field is read."""


def extract(text: str, url: str, settings: ExtractorSettings, tell: Tell = untold) -> Extraction:
    """Read a page, given as text and the address it came from; never raises for what the page holds."""
    text, replaced = counted_text(text)
    hard = too_hard(text)
    view = View(
        "" if hard else CONTROLS.sub(" ", text)
    )  # the parser takes controls in names, and cannot give them back
    if hard:
        view.faults.append(("too_large", hard))
    page = Scope(view)
    reading = _Reading(url, tell)
    tell("items" if settings.items else "")
    scopes = page.below(settings.items) if settings.items else [page]
    if len(scopes) > MAX_ITEMS:
        reading.note(MAX_ITEMS, "", "too_many_items", f"only the first {MAX_ITEMS} were read")
    items: list[dict[str, Any]] = []
    for number, scope in enumerate(scopes[:MAX_ITEMS]):
        if reading.asked >= MAX_VALUES:
            reading.note(number, "", "too_many_values", f"only the first {MAX_VALUES} values were read")
            break
        items.append(_object(number, "", settings.fields, scope, reading))
    faults = [Problem(0, "", code, message) for code, message in view.faults]  # type: ignore[arg-type]  # codes of ours
    cleaned, in_values = counted(items)
    completeness = reading.found / reading.asked if reading.asked else 0.0
    validation = reading.valid / reading.checked if reading.checked else float(bool(items))
    return Extraction(
        items=cleaned,
        normalized={"items": cleaned} if settings.items else (cleaned[0] if cleaned else {}),
        completeness=round(completeness, 4),
        validation=round(validation, 4),
        composite=round(COMPLETENESS_WEIGHT * completeness + VALIDATION_WEIGHT * validation, 4),
        problems=[*faults, *reading.problems],
        replaced_characters=replaced + in_values,
        empty_reason=hard or _empty_reason(items, reading, settings),
        unmet=reading.unmet,
    )


def refusal(extraction: Extraction, settings: ExtractorSettings) -> tuple[Refusal, str] | None:
    """Return the rule by which an extraction fails its node, with evidence, or None."""
    if extraction.empty_reason and settings.fail_when_empty:
        return "empty_result", extraction.empty_reason
    if extraction.unmet and settings.fail_when_required_missing:
        return "required_missing", extraction.unmet
    if extraction.completeness < settings.min_completeness:
        return "incomplete", f"completeness {extraction.completeness:g} is below {settings.min_completeness:g}"
    return None


def _object(number: int, above: str, fields: Sequence[Leaf], scope: Scope, reading: _Reading) -> dict[str, Any]:
    return {one.name: _value(number, f"{above}{one.name}", one, scope, reading) for one in fields}


def _value(number: int, name: str, leaf: Leaf, scope: Scope, reading: _Reading) -> Any:
    reading.tell(name)
    if isinstance(leaf, Part) and leaf.fields:
        return _nested(number, name, leaf, scope, reading)
    raw = _raw(number, name, leaf, scope, reading)
    value = value_of(raw, leaf, reading.url)
    reading.asked += 1
    if value is not None:
        reading.found += 1
        reading.checked += 1
        reading.valid += 1
    elif raw:
        reading.checked += 1
        message = f"{name}: {str(raw)[:100]!r} is not a {leaf.type}"
        reading.note(number, name, "invalid", message, required=leaf.required)
    elif leaf.required and leaf.default is None:
        reading.checked += 1
        message = f"{name}: {leaf.selector} {leaf.query!r} finds nothing"
        reading.note(number, name, "missing", message, required=True)
    return leaf.default if value is None else value


def _raw(number: int, name: str, leaf: Leaf, scope: Scope, reading: _Reading) -> Any | None:
    """Return what a field finds, as long as all values of the page together are no longer than they may be."""
    if reading.full:
        return None
    raw = scope.raw(leaf)
    if raw is not None and leaf.pattern:
        texts = raw if isinstance(raw, list) else [raw]
        raw = [part for text in texts for part in patterns.found(leaf.pattern, str(text))] or None
    reading.chars += chars_of(raw)
    if not reading.full:
        return raw
    said = f"{name}: with it the values hold more than {MAX_CHARS} characters: no more are read"
    reading.note(number, name, "too_large", said, required=leaf.required)
    return None


def _nested(number: int, name: str, part: Part, scope: Scope, reading: _Reading) -> Any:
    """Read an object, or a list of objects, inside of what the query finds."""
    scopes = scope.below(part)
    if part.type == "list":
        left = max(0, MAX_VALUES - reading.asked) // len(part.fields)
        values = [
            _object(number, f"{name}[{place}].", part.fields, one, reading)
            for place, one in enumerate(scopes[: min(left, MAX_ITEMS)])
        ]
        if len(values) < len(scopes):
            message = f"{name}: only the first {len(values)} were read"
            reading.note(number, name, "too_many_values", message)
        if values:
            return values
    elif scopes:
        return _object(number, f"{name}.", part.fields, scopes[0], reading)
    reading.asked += _leaves(part)
    if part.required and part.default is None:
        reading.checked += 1
        message = f"{name}: {part.selector} {part.query!r} finds nothing"
        reading.note(number, name, "missing", message, required=True)
    return part.default


def _leaves(leaf: Leaf) -> int:
    inner = leaf.fields if isinstance(leaf, Part) else ()
    return sum(map(_leaves, inner)) or 1


def _empty_reason(items: list[dict[str, Any]], reading: _Reading, settings: ExtractorSettings) -> str:
    if not items and settings.items:
        return f"{settings.items.selector} {settings.items.query!r} finds no item"
    if not reading.found:
        names = ", ".join(one.name for one in settings.fields[:10])
        return f"no field finds a value: {names}"
    return ""
