"""Finds every field at fault in values that are not of their type: msgspec itself stops at the first."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from api.errors import MAX_PROBLEMS, Problem, invalid
from api.requests import LINE_PATTERN

MOST_PARTS = 10_000  # of a list: no field takes more, so a longer one is at fault as a whole
_LINE = repr(LINE_PATTERN)
_CHOICE = re.compile(r"Invalid enum value .*", re.DOTALL)  # what was sent may be a secret in the wrong place
_NAMED = re.compile(r"(?:unknown field|missing required field) `([^`]+)`")


def faults(value: Mapping[str, Any], shape: type, strict: bool) -> Iterator[Problem]:
    """Yield a problem per field at fault, at any depth: those sent in their order, then those left out."""
    known = {field.encode_name: field for field in msgspec.structs.fields(shape)}
    for name, given in value.items():
        if name in known:
            yield from _of_field(name, given, known[name].type, strict)
        elif _forbids_others(shape):
            yield invalid(name, f"there is no field `{name}`: leave it out")
    for name, field in known.items():
        if field.required and name not in value:
            yield invalid(name, f"the field `{name}` is missing")


def _forbids_others(shape: Any) -> bool:
    """Whether other fields are an error: of a file that is sent as others made it only some are read."""
    return bool(shape.__struct_config__.forbid_unknown_fields)


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
    lists = (get_args(each)[0] for each in _plain_types(kind) if get_origin(each) in (tuple, list))
    return next(lists, None)


def struct_type(kind: Any) -> type[msgspec.Struct] | None:
    """Return the struct that a type is, through annotations and `| None`; None for any other type."""
    plain = _plain_types(kind)
    return next((each for each in plain if isinstance(each, type) and issubclass(each, msgspec.Struct)), None)


def _plain_types(kind: Any) -> Iterator[Any]:
    if get_origin(kind) is Annotated:
        yield from _plain_types(get_args(kind)[0])
    elif get_origin(kind) in (Union, UnionType):
        for each in get_args(kind):
            yield from _plain_types(each)
    else:
        yield kind


def sound(value: Mapping[str, Any], shape: type) -> dict[str, Any]:
    """Return the fields that were sent, typed, under the names of the code; UNSET for what is not of its type."""
    kept: dict[str, Any] = {}
    for field in msgspec.structs.fields(shape):
        given, inner = value.get(field.encode_name), struct_type(field.type)
        if inner is not None and isinstance(given, dict):
            kept[field.name] = sound(given, inner)
        elif field.encode_name in value:
            try:
                kept[field.name] = msgspec.convert(given, field.type)
            except msgspec.ValidationError:
                kept[field.name] = msgspec.UNSET
    return kept


def _of_field(name: str, given: Any, kind: Any, strict: bool) -> Iterator[Problem]:
    try:
        msgspec.convert(given, kind, strict=strict)
    except msgspec.ValidationError as error:
        if not strict:  # a query parameter has no parts
            yield invalid(name, named("", error).body["message"])
            return
        parts = list(islice(_of_parts(name, given, kind), MAX_PROBLEMS))  # nobody is told of more
        yield from parts or [named(name, error)]


def _of_parts(name: str, given: Any, kind: Any) -> Iterator[Problem]:
    """Yield a problem per part of a list or an object that is at fault; none where it is at fault as a whole."""
    items, inner = item_type(kind), struct_type(kind)
    if items is not None and isinstance(given, list):
        for number, item in enumerate(islice(given, MOST_PARTS)):
            yield from _of_field(f"{name}[{number}]", item, items, strict=True)
    elif inner is not None and isinstance(given, dict):
        yield from (problem.within(name) for problem in faults(given, inner, strict=True))
