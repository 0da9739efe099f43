"""Looks at the first five bytes of each event before ClickHouse reads it: a zero byte and the id of a known schema.

ClickHouse reads a body from its first byte on: one record without a frame would shift all that follow.
"""

from collections.abc import Iterable
from typing import Any

from schemas.codec import FRAME, SchemaById, UnknownSchema
from services.runtime.errors import LogGap
from services.runtime.raw_log import RawEntry, place

NAMESPACE = "jobledger."


class Frames:
    """Checks frames; asks the registry once for each schema id."""

    def __init__(self, schema_by_id: SchemaById, topic: str) -> None:
        self._schema_by_id = schema_by_id
        self._topic = topic
        self._known: set[bytes] = set()

    def check(self, entries: Iterable[RawEntry]) -> None:
        """Raise LogGap naming the first record that cannot be an event."""
        known = self._known
        for entry in entries:
            frame = entry.raw[: FRAME.size]
            if frame not in known:
                self._learn(frame, entry)

    def _learn(self, frame: bytes, entry: RawEntry) -> None:
        at = place(self._topic, entry.partition, entry.offset)
        if len(frame) < FRAME.size or frame[0] != 0:
            raise LogGap(f"{at}: no Confluent frame: only the decider may write to this topic")
        try:
            schema = self._schema_by_id(FRAME.unpack(frame)[1])
        except UnknownSchema as error:
            raise LogGap(f"{at}: {error}: restore the registry's schemas, then start again") from error
        if not _full_name(schema).startswith(NAMESPACE):
            raise LogGap(f"{at}: {_full_name(schema)} is no event: only the decider may write to this topic")
        self._known.add(frame)


def _full_name(schema: dict[str, Any]) -> str:
    name = str(schema.get("name", ""))
    return name if "." in name else f"{schema.get('namespace', '')}.{name}"
