"""What a rebuild is asked for and what comes of it."""

from msgspec import Struct

from projections.rebuild.difference import Difference


class Rebuilt(Struct, frozen=True):
    """What came of a rebuild."""

    version: str
    positions: dict[int, int]  # at which the versions were compared
    digest: str  # of the new version there
    rows: int
    difference: Difference = Difference()
    switched: bool = False
    replaced: str = ""  # where the version that was in use is now; empty: no switch


def positions_of(text: str) -> dict[int, int]:
    """Return positions by partition of `PARTITION:POSITION[,...]`, or raise ValueError saying what to give."""
    wanted: dict[int, int] = {}
    for part in text.split(","):
        partition, _, position = part.strip().partition(":")
        if not (partition.isdecimal() and position.isdecimal()):
            raise ValueError(f"give PARTITION:POSITION[,...], as in 0:1200,3:77, not {text!r}")
        wanted[int(partition)] = int(position)
    return wanted
