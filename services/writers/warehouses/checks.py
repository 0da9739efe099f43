"""What fields of settings take beyond their types: each is looked at alone, so that all at fault can be named."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import msgspec


@dataclass(frozen=True, slots=True)
class Check:
    """What one field takes."""

    fine: Callable[[Any], object]  # whether a value of the right type can be used
    takes: str  # goes on behind `<field> takes`, and quotes no value


Checks = Mapping[str, Check]  # by the name of the field in the code


class Checked(Protocol):
    """A struct whose fields are checked, each alone; it calls `check` in `__post_init__`."""

    checks: ClassVar[Checks]


def check(struct: Checked) -> None:
    """Raise ValueError that begins with the name of the first field at fault."""
    values = {name: getattr(struct, name) for name in struct.checks}
    for _, said in refusals(type(struct), values):
        raise ValueError(said)


def refusals(shape: type[Any], values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield field and complaint, for each value that its check refuses; what is not of its type is UNSET, or left out.

    Values go by the names of the code, what is yielded by those that callers write.
    """
    checks: Checks = getattr(shape, "checks", {})
    for field in msgspec.structs.fields(shape):
        value = values.get(field.name, msgspec.UNSET)
        if field.name in checks and value is not msgspec.UNSET and not checks[field.name].fine(value):
            yield field.encode_name, f"{field.encode_name} takes {checks[field.name].takes}"
