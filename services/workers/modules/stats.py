"""What is counted by query and by zone, and the names of what results have, as each chunk keeps it at its end."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

MOST_NAMED = 10_000  # queries, and zones, that are counted by their names
MOST_COLUMNS = 1_000  # names of members of results that are kept
OTHERS = ""  # the name under which all further ones are counted


class Count(Struct, array_like=True):
    """Planned items that are done, results, and items that did not succeed."""

    processed: int = 0
    results: int = 0
    errors: int = 0


class Stats(Struct, omit_defaults=True):
    """Counts of a job and of all before it in its chain."""

    by_query: dict[str, Count] = {}
    by_zone: dict[str, Count] = {}
    columns: dict[str, None] = {}  # names of members of results, in the order in which they first came

    def saw(self, row: Mapping[str, Any]) -> None:
        """Keep the names of a result's members."""
        for name in row:
            if name not in self.columns and len(self.columns) < MOST_COLUMNS:
                self.columns[name] = None

    def add(self, value: Mapping[str, Any], results: int, *, failed: bool) -> None:
        """Count an outcome of a planned item."""
        for counts, name in self.counted(value):
            count = counts.get(name)
            if count is None:
                key = name if len(counts) < MOST_NAMED else OTHERS
                count = counts.setdefault(key, Count())
            count.processed += 1
            count.results += results
            count.errors += failed

    def counted(self, value: Mapping[str, Any]) -> Iterator[tuple[dict[str, Count], str]]:
        """Yield what a planned item is counted in, and by which name."""
        for counts, name in ((self.by_query, value.get("query")), (self.by_zone, value.get("zone"))):
            if isinstance(name, str):
                yield counts, name


class Kept(Struct, omit_defaults=True):
    """Counts as of the end of a chunk, and as of the last item up to there that succeeded; None: they are the same."""

    now: Stats
    resumable: Stats | None = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Kept).decode


def encoded(kept: Kept) -> bytes:
    """Return the bytes of counts."""
    return _encode(kept)


def decoded(data: bytes) -> Kept:
    """Return the counts in these bytes."""
    return _decode(data) if data else Kept(Stats())


def without_errored(stats: Stats, values: Iterable[Mapping[str, Any]]) -> Stats:
    """Return counts as they were before these items, each of which errored, were counted."""
    before = msgspec.json.decode(_encode(stats), type=Stats)
    for value in values:
        for counts, name in before.counted(value):
            key = name if name in counts else OTHERS
            count = counts[key]
            count.processed -= 1
            count.errors -= 1
            if not count.processed:
                del counts[key]
    return before
