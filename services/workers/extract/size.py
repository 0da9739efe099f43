"""How much text a value holds: one page may be asked for a thousand times, and stands in the document as often."""

from typing import Any

MAX_CHARS = 32 << 20  # of all values of a page together: some three of the largest pages
PER_VALUE = 8  # of what is no text


def chars_of(value: Any, most: int = MAX_CHARS) -> int:
    """Return about how many characters a value takes as JSON; more than `most` is not counted out."""
    chars, waiting = 0, [value]
    while waiting and chars <= most:
        match waiting.pop():
            case str() as text:
                chars += len(text)
            case dict() as members:
                chars += PER_VALUE * len(members)
                waiting += members.keys()
                waiting += members.values()
            case list() | tuple() as items:
                chars += PER_VALUE * len(items)
                waiting += items
            case _:
                chars += PER_VALUE
    return chars
