"""Whether plain JSON values have the shape of a type, and every place where they have not.

msgspec stops at the first fault; whoever writes a document by hand wants to hear of all of them.
"""

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from services.ledger.workflow import Fault
from services.ledger.workflow_codes import FaultCode

MOST_FAULTS = 200  # then nobody reads on
_TOO_MANY: dict[str, FaultCode] = {"nodes": "too_many_nodes", "edges": "too_many_edges"}


def shaped(value: Any, kind: Any, path: str, found: list[Fault]) -> Any:
    """Return the value as msgspec reads it into `kind`, and add to `found` what is wrong with it.

    A whole number may be written 2.0, which JSON Schema takes for an integer, and msgspec does not. Fields that are
    wrong are left out of what is returned, UNSET where nothing is left, so that the rest can be looked at too.
    """
    if len(found) >= MOST_FAULTS:
        return msgspec.UNSET
    base, rules = _parted(kind)
    options = get_args(base) if get_origin(base) in (Union, UnionType) else (base,)
    structs = [option for option in options if isinstance(option, type) and issubclass(option, msgspec.Struct)]
    if structs and not (value is None and NoneType in options):
        return _struct(value, structs, path, found)
    if get_origin(base) is tuple:
        return _list(value, base, rules, path, found)
    if get_origin(base) is dict and isinstance(value, dict):
        item = get_args(base)[1]
        read = {name: shaped(each, item, f"{path}.{name}", found) for name, each in value.items()}
        return {name: each for name, each in read.items() if each is not msgspec.UNSET}
    bases = {_parted(option)[0] for option in options}
    return _leaf(value, kind, int in bases and float not in bases, path, found)


def _struct(value: Any, structs: list[type[msgspec.Struct]], path: str, found: list[Fault]) -> Any:
    if not isinstance(value, dict):
        found.append(_bad(path, f"expected an object, got {_name(value)}"))
        return msgspec.UNSET
    struct, tag_field = structs[0], structs[0].__struct_config__.tag_field
    if tag_field is not None:
        tags = {str(each.__struct_config__.tag): each for each in structs}
        if tag_field not in value:
            found.append(_missing(path, tag_field))
            return msgspec.UNSET
        tag = value[tag_field]
        if not isinstance(tag, str) or tag not in tags:
            found.append(_bad(_below(path, tag_field), f"expected one of {', '.join(tags)}"))
            return msgspec.UNSET
        struct = tags[tag]
    return _fields(value, struct, tag_field, path, found)


def _fields(
    value: Mapping[str, Any], struct: type[msgspec.Struct], tag_field: str | None, path: str, found: list[Fault]
) -> dict[str, Any]:
    fields = {field.encode_name: field for field in msgspec.structs.fields(struct)}
    read: dict[str, Any] = {}
    for name in value:
        if name in fields:
            read[name] = shaped(value[name], fields[name].type, _below(path, name), found)
        elif name == tag_field:
            read[name] = value[name]
        else:
            known = ", ".join(fields)
            found.append(Fault(_below(path, name), "unknown_field", f"there is no such field here: there are {known}"))
    found.extend(_missing(path, name) for name, field in fields.items() if field.required and name not in value)
    return {name: each for name, each in read.items() if each is not msgspec.UNSET}


def _list(value: Any, base: Any, rules: msgspec.Meta | None, path: str, found: list[Fault]) -> Any:
    if not isinstance(value, list):
        found.append(_bad(path, f"expected a list, got {_name(value)}"))
        return msgspec.UNSET
    most = rules.max_length if rules else None
    if most is not None and len(value) > most:
        found.append(
            Fault(path, _TOO_MANY.get(path, "bad_value"), f"{len(value)} of them: at most {most} can be taken")
        )
        return msgspec.UNSET
    item = get_args(base)[0]
    read = [shaped(each, item, f"{path}[{number}]", found) for number, each in enumerate(value)]
    return msgspec.UNSET if msgspec.UNSET in read and path != "nodes" else read


def _leaf(value: Any, kind: Any, whole: bool, path: str, found: list[Fault]) -> Any:
    if whole and isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        msgspec.convert(value, kind)
    except (msgspec.ValidationError, OverflowError) as error:
        what = str(error).partition(" - at `$")[0]
        found.append(_bad(path, what[0].lower() + what[1:]))
        return msgspec.UNSET
    return value


def _parted(kind: Any) -> tuple[Any, msgspec.Meta | None]:
    """Return a type without its annotations, and the rules among them."""
    if get_origin(kind) is not Annotated:
        return kind, None
    base, *rules = get_args(kind)
    return base, next((rule for rule in rules if isinstance(rule, msgspec.Meta)), None)


def _missing(path: str, name: str) -> Fault:
    return Fault(_below(path, name), "missing_field", f"{name!r} has to be there: add it")


def _bad(path: str, message: str) -> Fault:
    return Fault(path or "document", "bad_value", message)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _name(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", NoneType: "null"}
    return names.get(type(value), "a number")
