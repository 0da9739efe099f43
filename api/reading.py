"""From the bytes and the query of a request to typed values, or to a Problem that names the field at fault."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from types import UnionType
from typing import Annotated, Any, NoReturn, TypeVar, Union, get_args, get_origin

import msgspec
from multidict import MultiMapping

from api.errors import MAX_PROBLEMS, Problem, invalid, together
from api.faults import faults, item_type, named, sound
from api.json_texts import MAX_DEPTH, path_of, texts

T = TypeVar("T")
More = Callable[[dict[str, Any]], Iterator[Problem]]
MAX_NESTED = 500_000  # lists and objects in a body: each costs far more memory than the bytes that it stands in
HALF = re.compile("[\ud800-\udfff]")
NUL = b"\\u0000"  # as it stands in JSON, which takes it in no other way


class _NotJson(ValueError):
    """The text holds a word that JavaScript knows and JSON does not."""


def json_object(data: bytes) -> dict[str, Any]:
    """Return the JSON object in a body, or raise a Problem that says what is wrong with it."""
    brackets = data.count(b"[") + data.count(b"{")  # those in texts too: the most that there can be
    if brackets > MAX_NESTED:
        raise Problem("too_large", f"the body takes at most {MAX_NESTED} lists and objects")
    try:
        value = msgspec.json.decode(data)
    except RecursionError:
        raise Problem("invalid_json", f"the body is nested more than {MAX_DEPTH} levels deep") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        _diagnose(data, str(error))
    if not isinstance(value, dict):
        raise Problem("invalid_json", "the body must be a JSON object: {...}")
    if NUL in data or brackets > MAX_DEPTH:  # else there is nothing to look for
        for place, text in texts(value):
            if "\0" in text:
                raise Problem("unusable_text", "this text holds a NUL character: leave it out", field=path_of(place))
    return value


def typed(value: Mapping[str, Any], shape: type[T], *, strict: bool = True, more: More | None = None) -> T:
    """Turn plain values into a request type, or raise a Problem with the path of every field at fault.

    What `more` finds wrong with the fields that are of their type is told with them.
    """
    if strict:
        value = _whole_numbers(value, shape)
    try:
        return msgspec.convert(value, shape, strict=strict)
    except msgspec.ValidationError as error:
        found = list(islice(faults(value, shape, strict), MAX_PROBLEMS)) or [named("", error)]
        raise together([*found, *(more(sound(value, shape)) if more else ())]) from None


def query_of(given: MultiMapping[str], shape: type) -> dict[str, Any]:
    """Return a query string as plain values: what takes a list may come several times, all else once."""
    if not given:
        return {}
    lists = _lists(shape)
    several = [name for name in dict.fromkeys(given) if name not in lists and len(given.getall(name)) > 1]
    if several:
        raise together([invalid(name, "comes several times: send it once") for name in several])
    return {name: given.getall(name) if name in lists else given[name] for name in given}


def _whole_numbers(value: Mapping[str, Any], shape: type) -> dict[str, Any]:
    """Return values with 35.0 as 35 where a whole number belongs: JSON and its schemas know one kind of number."""
    kinds = _kinds(shape)
    return {name: _whole(given, kinds[name]) if name in kinds else given for name, given in value.items()}


def _whole(given: Any, kind: type) -> Any:
    if kind is int:
        return int(given) if isinstance(given, float) and given.is_integer() else given
    return _whole_numbers(given, kind) if isinstance(given, dict) else given


@cache
def _kinds(shape: type) -> Mapping[str, type]:
    """Return of a shape's fields those that are whole numbers, and those that are shapes themselves."""
    found = {field.encode_name: _kind(field.type) for field in msgspec.structs.fields(shape)}
    return {name: kind for name, kind in found.items() if kind is not None}


def _kind(kind: Any) -> type | None:
    if get_origin(kind) is Annotated:
        return _kind(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return next((found for each in get_args(kind) if (found := _kind(each))), None)
    return kind if isinstance(kind, type) and (kind is int or issubclass(kind, msgspec.Struct)) else None


@cache
def _lists(shape: type) -> frozenset[str]:
    return frozenset(each.encode_name for each in msgspec.structs.fields(shape) if item_type(each.type) is not None)


def _diagnose(data: bytes, reason: str) -> NoReturn:
    """Tell half a surrogate pair, which only a lenient reader gets past, from text that is no JSON."""
    try:
        value = json.loads(data, parse_constant=_refuse_constant)
    except _NotJson as error:
        raise Problem("invalid_json", f"{error} is not JSON: send null or a string") from None
    except (ValueError, RecursionError):
        raise Problem("invalid_json", f"the body is not JSON: {reason}") from None
    for place, text in texts(value):
        if HALF.search(text):
            said = "this text holds half a surrogate pair: send whole characters"
            raise Problem("unusable_text", said, field=path_of(place))
    raise Problem("invalid_json", f"the body is not JSON: {reason}")


def _refuse_constant(name: str) -> NoReturn:
    raise _NotJson(name)
