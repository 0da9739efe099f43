"""JSONPath (RFC 9535) into the JSON that a page is, or carries in its scripts."""

import json
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import re2
from jsonpath import JSONPathEnvironment
from jsonpath.exceptions import JSONPathError
from jsonpath.filter import BaseExpression, RootFilterQuery
from jsonpath.function_extensions import ExpressionType, FilterFunction
from jsonpath.selectors import Filter

from services.workers.extract.patterns import compiled as compiled_pattern

MAX_FOUND = 10_000
MAX_JSON_CHARS = 16 << 20  # of one document
MAX_SEARCHED = 100_000  # values of a document that `..` looks through: ten microseconds each and more
MAX_COMPARED = 1_000_000  # pairs, or triples, of values that filters which look through the whole document make


UNREADABLE = (JSONPathError, RecursionError, ValueError, OverflowError)


@dataclass(frozen=True, slots=True)
class Json:
    """A document, and about how many values it has."""

    value: Any
    values: int = 0


class _Matches(FilterFunction):
    """The functions `match` and `search`, in linear time."""

    arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]  # noqa: RUF012
    return_type = ExpressionType.LOGICAL

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole

    def __call__(self, value: object, pattern: object) -> bool:
        """Say whether a text matches; a pattern that cannot be read matches nothing."""
        if not isinstance(value, str) or not isinstance(pattern, str):
            return False
        try:
            regex = compiled_pattern(pattern)
        except re2.error:
            return False
        return (regex.fullmatch(value) if self._whole else regex.search(value)) is not None


_ENVIRONMENT = JSONPathEnvironment(strict=True)
_ENVIRONMENT.function_extensions["match"] = _Matches(whole=True)
_ENVIRONMENT.function_extensions["search"] = _Matches(whole=False)


@lru_cache(maxsize=1024)
def _compiled(query: str) -> Any:
    return _ENVIRONMENT.compile(query)


def query_fault(query: str) -> str | None:
    """Say what is wrong with a JSONPath, or None."""
    try:
        _compiled(query)
    except UNREADABLE as error:
        what = (str(error).splitlines() or [type(error).__name__])[0]
        return f"{query!r} is not a jsonpath: {what}"
    return None


def too_large(query: str, document: Json) -> bool:
    """Whether a path is not looked for in a document, since it would look at too many values too often."""
    return (document.values > MAX_SEARCHED and ".." in query) or compares_too_much(query, document)


def compares_too_much(query: str, document: Json) -> bool:
    """Whether the filters of a path look through a document for each of its values, and it has too many for that."""
    scans = _scans(query)
    return scans > 1 and _more_values(document.value, int(MAX_COMPARED ** (1 / scans)))


@lru_cache(maxsize=1024)
def _scans(query: str) -> int:
    """Return how many times within each other a path looks through a document: `$..[?count($..*) > 1]` twice."""
    try:
        selectors = [selector for segment in _compiled(query).segments for selector in segment.selectors]
    except UNREADABLE:
        return 1
    return 1 + max((_scans_of(each.expression) for each in selectors if isinstance(each, Filter)), default=0)


def _scans_of(expression: BaseExpression) -> int:
    own = isinstance(expression, RootFilterQuery) and not expression.path.singular_query()
    return own + max(map(_scans_of, expression.children()), default=0)


def _more_values(value: Any, most: int) -> bool:
    """Whether a document has more values than so many."""
    seen, waiting = 0, [value]
    while waiting and seen <= most:
        current = waiting.pop()
        seen += 1
        if isinstance(current, list | dict):
            if len(current) > most:
                return True
            waiting += current.values() if isinstance(current, dict) else current
    return seen > most


def found(query: str, documents: list[Json]) -> list[Any]:
    """Return the values at a path, of the first document that has any; it passes over those that are too large."""
    for document in documents:
        if too_large(query, document):
            continue
        try:
            values = [match.value for match in islice(_compiled(query).finditer(document.value), MAX_FOUND)]
        except (JSONPathError, RecursionError, OverflowError):
            continue  # nested deeper than it is followed, or a filter that does not fit what is there
        if values:
            return values
    return []


def documents_of(texts: list[str]) -> list[Json]:
    """Return what can be read as JSON objects and lists, in order."""
    documents = []
    for text in texts:
        if len(text) > MAX_JSON_CHARS or text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
            continue
        try:
            documents.append(Json(json.loads(text.lstrip("\ufeff"), strict=False), text.count(",")))
        except (ValueError, RecursionError):
            continue
    return documents
