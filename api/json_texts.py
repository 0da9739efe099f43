"""Goes through the texts of a JSON value with no more memory than for its depth, however long its lists are."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from api.errors import invalid

MAX_DEPTH = 64  # of lists and objects within each other
Place: TypeAlias = Sequence[str | int]  # names and numbers, from the outside in
_HOLD_TEXT = frozenset({str, list, dict})


def texts(value: Any) -> Iterator[tuple[Place, str]]:
    """Yield every text in a JSON value, keys included, with its place; refuse what is nested too deep.

    A place is good until the next text is asked for.
    """
    if isinstance(value, str):
        yield (), value
        return
    place: list[str | int] = []
    around = [_items(value)]
    while around:
        for key, item in around[-1]:
            if isinstance(key, str):
                yield (*place, key), key
            if isinstance(item, str):
                yield (*place, key), item
            elif item and isinstance(item, list | dict):
                place.append(key)
                if len(place) == MAX_DEPTH:
                    raise invalid(path_of(place)[:200], f"nested more than {MAX_DEPTH} levels deep")
                around.append(_items(item))
                break
        else:
            around.pop()
            if place:
                place.pop()


def path_of(place: Place) -> str:
    """Return a place as problems name it: `input.a[1]`."""
    path = ""
    for key in place:
        if isinstance(key, int):
            path += f"[{key}]"
        else:
            path += f".{_printable(key)}" if path else _printable(key)
    return path or "body"


def _items(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return iter(value.items())
    return iter(enumerate(value)) if isinstance(value, list) and _HOLD_TEXT & set(map(type, value)) else iter(())


def _printable(key: str) -> str:
    return key[:80].encode("ascii", "backslashreplace").decode().replace("\0", "\\x00")
