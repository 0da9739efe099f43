"""The columns of a job's results: the names of their members, in the order in which they first came.

They are counted as results are recorded, so that the first line of a file is known without reading all of it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from services.workers.modules.stats import MOST_COLUMNS, Stats

OTHERS = "_more"


class Columns(NamedTuple):
    """The columns by name, and the name of one more with all members that have none; empty: there are no others."""

    names: Sequence[str]
    others: str

    @property
    def header(self) -> list[str]:
        """Return the names of all columns."""
        return [*self.names, *([self.others] if self.others else [])]


def columns_of(stats: Stats) -> Columns:
    """Return the columns of what was counted so."""
    names = list(stats.columns)
    others = ""
    if len(names) >= MOST_COLUMNS:
        others = OTHERS
        while others in stats.columns:
            others += "_"
    return Columns(names, others)
