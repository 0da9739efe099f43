"""Text that every store takes: NUL and halves of surrogate pairs become U+FFFD, and are counted.

Postgres refuses both, and no UTF-8 can hold the latter. Pages and HTTP headers hold them all the same. The six
characters that spell a NUL in JSON are no NUL, and stay.
"""

import re
from typing import Any

REPLACEMENT = "\ufffd"
MAX_DEPTH = 64  # of lists and objects within each other, as the API takes them; what lies deeper becomes null
ESCAPED = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")  # a NUL or half of a surrogate pair, as JSON spells them
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Whether a store takes this text as it is."""
    return "\0" not in text and (text.isascii() or not _UNSTORABLE.search(text))


def storable_text(text: str) -> str:
    """Return a text as stores take it."""
    return text if is_storable(text) else _UNSTORABLE.sub(REPLACEMENT, text)


def counted_text(text: str) -> tuple[str, int]:
    """Return a text as stores take it, and how many characters of it were replaced."""
    return (text, 0) if is_storable(text) else _UNSTORABLE.subn(REPLACEMENT, text)


def storable(value: Any) -> Any:
    """Return a JSON value as stores take it, in its texts and in the names of its members."""
    return counted(value)[0]


def counted(value: Any, depth: int = 0) -> tuple[Any, int]:
    """Return a JSON value as stores take it, and how many characters of it were replaced.

    No member gets lost: one whose new name is taken already gets a longer one.
    """
    match value:
        case str():
            return counted_text(value)
        case list() | dict() if depth >= MAX_DEPTH:
            return None, 0
        case list():
            items = [counted(item, depth + 1) for item in value]
            return [item for item, _ in items], sum(replaced for _, replaced in items)
        case dict():
            return _counted_members(value, depth)
        case _:
            return value, 0


def _counted_members(value: dict[str, Any], depth: int) -> tuple[dict[str, Any], int]:
    members: dict[str, Any] = {}
    total = 0
    for name, item in value.items():
        new_name, in_name = counted_text(name)
        while in_name and (new_name in members or new_name in value):
            new_name += REPLACEMENT
        members[new_name], in_item = counted(item, depth + 1)
        total += in_name + in_item
    return members, total
