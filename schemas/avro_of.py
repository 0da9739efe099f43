"""The Avro record schema of an event class."""

import inspect
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct

from schemas.event import Event
from schemas.events import EVENT_TYPES
from schemas.recorded import Header

NAMESPACE = "jobledger"
FIXED = {"event_id": ("EventId", 16), "prev_hash": ("Hash", 32)}
ENVELOPE_FROM_EVENT = ("org_id", "job_id", "attempt", "private")
Json = dict[str, Any]


def record_schema(event_type: str) -> Json:
    """Return the Avro schema of an event: the header's fields, the fields of every event, then its own.

    Header fields have no default: a record without them is no event. All others have one, so that a later
    version may retire them and stay compatible both ways with everything ever released.
    """
    cls = EVENT_TYPES[event_type]
    named: set[str] = set()
    own = [name for name in cls.__struct_fields__ if name not in Event.__struct_fields__]
    return {
        "type": "record",
        "name": event_type,
        "namespace": NAMESPACE,
        "doc": _docstring(cls),
        "fields": [
            *(_field(Header, name, named, required=True) for name in Header.__struct_fields__),
            *(_field(cls, name, named, required=name in ("org_id", "job_id")) for name in ENVELOPE_FROM_EVENT),
            *(_field(cls, name, named, required=False) for name in own),
        ],
    }


def _field(cls: type[Struct], name: str, named: set[str], *, required: bool) -> Json:
    plain, text = _described(cls, name)
    field: Json = {"name": name, "type": _avro(plain, name, named), "doc": text}
    if not required:
        field["default"] = _default(_default_of(cls, name))
    return field


def field_hint(cls: type[Struct], name: str) -> tuple[Any, tuple[Meta, ...]]:
    """Return the type of a field, and what is noted about it."""
    hint: Any = _hints(cls)[name]
    if get_origin(hint) is not Annotated:
        return hint, ()
    plain, *notes = get_args(hint)
    return plain, tuple(note for note in notes if isinstance(note, Meta))


@cache
def _hints(cls: type[Struct]) -> Json:
    """Return the annotations of all fields; evaluating them takes longer than all else here together."""
    return get_type_hints(cls, include_extras=True)


def _described(cls: type[Struct], name: str) -> tuple[Any, str]:
    """Return the type of a field and its description, the unit in brackets behind it."""
    plain, notes = field_hint(cls, name)
    texts = [note.description for note in notes if note.description]
    units = "".join(f" ({unit})" for unit in texts[:-1])
    return plain, texts[-1] + units if texts else ""


def _avro(plain: Any, name: str, named: set[str]) -> Any:
    primitive = {str: "string", int: "long", float: "double", bool: "boolean", bytes: "bytes"}
    if name in FIXED:
        return _named(named, {"type": "fixed", "name": FIXED[name][0], "size": FIXED[name][1]})
    if name == "opened_by":
        return {"type": "array", "items": _named(named, {"type": "fixed", "name": "EventId", "size": 16})}
    if plain in primitive:
        return primitive[plain]
    if inspect.isclass(plain) and issubclass(plain, StrEnum):
        symbols = [member.value for member in plain]
        return _named(
            named,
            {
                "type": "enum",
                "name": plain.__name__,
                "doc": _docstring(plain),
                "symbols": symbols,
                "default": "unknown",
            },
        )
    if get_origin(plain) is tuple:
        return {"type": "array", "items": _avro(get_args(plain)[0], "", named)}
    if inspect.isclass(plain) and issubclass(plain, Struct):
        fields = [_field(plain, inner, named, required=False) for inner in plain.__struct_fields__]
        return _named(named, {"type": "record", "name": plain.__name__, "doc": _docstring(plain), "fields": fields})
    raise TypeError(f"no Avro type for {name}: {plain!r}")


def _named(named: set[str], schema: Json) -> Json | str:
    """Define a named type at its first use and refer to it afterwards."""
    if schema["name"] in named:
        return f"{NAMESPACE}.{schema['name']}"
    named.add(schema["name"])
    return {**schema, "namespace": NAMESPACE}


def _default_of(cls: type[Struct], name: str) -> Any:
    return dict(zip(reversed(cls.__struct_fields__), reversed(cls.__struct_defaults__), strict=False))[name]


def _default(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, StrEnum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def _docstring(cls: type) -> str:
    return inspect.cleandoc(cls.__doc__ or "")
