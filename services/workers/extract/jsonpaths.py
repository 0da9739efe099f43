"""JSONPath (RFC 9535) into the JSON that a page is, or carries in its scripts."""

import json
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import re2
from jsonpath import JSONPathEnvironment
from jsonpath.exceptions import JSONPathError
from jsonpath.function_extensions import ExpressionType, FilterFunction

from services.workers.extract.patterns import compiled as compiled_pattern

MAX_FOUND = 10_000
MAX_JSON_CHARS = 16 << 20  # of one document
MAX_SEARCHED = 100_000  # values of a document that `..` looks through: ten microseconds each and more


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
    except (JSONPathError, RecursionError, ValueError, OverflowError) as error:
        what = (str(error).splitlines() or [type(error).__name__])[0]
        return f"{query!r} is not a jsonpath: {what}"
    return None


def found(query: str, documents: list[Json]) -> list[Any]:
    """Return the values at a path, of the first document that has any; `..` passes over those that are too large."""
    for document in documents:
        if document.values > MAX_SEARCHED and ".." in query:
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
