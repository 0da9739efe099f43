"""Finds every field at fault in values that are not of their type: msgspec itself stops at the first."""

import re
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from api.errors import Problem, invalid
from api.requests import LINE_PATTERN

_LINE = repr(LINE_PATTERN)
_CHOICE = re.compile(r"Invalid enum value .*", re.DOTALL)  # what was sent may be a secret in the wrong place
_NAMED = re.compile(r"(?:unknown field|missing required field) `([^`]+)`")


def faults(value: Mapping[str, Any], shape: type, strict: bool) -> Iterator[Problem]:
    """Yield a problem per field at fault, and per item of a list: those sent in their order, then those left out."""
    known = {field.encode_name: field for field in msgspec.structs.fields(shape)}
    for name, given in value.items():
        if name in known:
            yield from _of_field(name, given, known[name].type, strict)
        else:
            yield invalid(name, f"there is no field `{name}`: leave it out")
    for name, field in known.items():
        if field.required and name not in value:
            yield invalid(name, f"the field `{name}` is missing")


def named(path: str, error: msgspec.ValidationError) -> Problem:
    """Return msgspec's complaint about what stands at a path, with the path of the field at fault."""
    what, _, where = str(error).partition(" - at `$")
    what = _CHOICE.sub("not one of the values that this field takes", what)
    missing = _NAMED.search(what)
    inner = path + where.rstrip("`")
    field = ".".join(filter(None, (inner.lstrip("."), missing[1] if missing else "")))
    if _LINE in what:
        return invalid(field, "holds a control character or a line break: leave it out")
    return invalid(field or "body", what[0].lower() + what[1:])


def item_type(kind: Any) -> Any:
    """Return what the items of a list type are, through annotations and `| None`; None for any other type."""
    if get_origin(kind) is Annotated:
        return item_type(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return next((found for each in get_args(kind) if (found := item_type(each)) is not None), None)
    return get_args(kind)[0] if get_origin(kind) in (tuple, list) else None


def _of_field(name: str, given: Any, kind: Any, strict: bool) -> Iterator[Problem]:
    try:
        msgspec.convert(given, kind, strict=strict)
    except msgspec.ValidationError as error:
        if not strict:  # a query parameter has no parts
            yield invalid(name, named("", error).body["message"])
            return
        items = item_type(kind)
        found = list(_of_items(name, given, items)) if items is not None and isinstance(given, list) else []
        yield from found or [named(name, error)]


def _of_items(name: str, given: list[Any], kind: Any) -> Iterator[Problem]:
    for number, item in enumerate(given):
        try:
            msgspec.convert(item, kind)
        except msgspec.ValidationError as error:
            yield named(f"{name}[{number}]", error)
