"""Where to begin reading behind a position whose offset nobody remembers."""

from collections.abc import Callable

NEAR = 500  # records that may be read in vain
Look = Callable[[int], tuple[int, int] | None]  # offset and position of the first event at or behind an offset


def offset_behind(position: int, first: int, end: int, look: Look) -> int:
    """Return an offset, not below `first`, from which on every event behind `position` lies, and few others.

    Positions are gapless and an event takes an offset, as do markers between them: the event at position + 1 lies at
    offset `position` at the lowest.
    """
    low, high = max(first, position), end
    while high - low > NEAR:
        middle = (low + high) // 2
        found = look(middle)
        if found is None or found[1] > position:
            high = middle
        else:
            low = found[0] + 1
    return low
