"""Collects what a spider says into parts of reports: chunks of items, bundles of lines, statistics."""

import msgspec

from schemas.private import private_bytes
from services.ledger.items import Items as Come
from services.ledger.reports import Chunk, ItemsReport, Logged, Stats
from services.runtime.item_chunks import chunk_key, log_key, packed, packed_lines
from services.runtime.item_manifest import Manifest, StoredChunk, manifest_key, packed_manifest
from services.workers.blobs import Blobs
from services.workers.spiders.frames import LEVELS, Line, Snapshot

CHUNK_ITEMS = 1_000
CHUNK_BYTES = 1024 * 1024
LINES_BYTES = 256 * 1024
_level = msgspec.json.Decoder(Line).decode


class Recorder:
    """What came since the last report of an attempt, and what is stored of it."""

    def __init__(self, blobs: Blobs, org_id: str, job_id: str, attempt: int, come: Come) -> None:
        self._blobs, self._of = blobs, (org_id, job_id, attempt)
        self._chain = (org_id, come.chain_id, come.link, attempt)
        self._next, self._chunk, self._logged, self._stats = come.next_item, come.chunks, come.logged, come.stats
        self._rows: list[bytes] = []
        self._lines: list[bytes] = []
        self._rows_bytes = self._lines_bytes = 0
        self._snapshot: Snapshot | None = None
        self._newest = Snapshot(final=False, scraped=0, succeeded=0, stats={})
        self._stored: list[StoredChunk] = []
        self._parts: list[ItemsReport] = []  # that are stored and not handed out yet

    @property
    def full(self) -> bool:
        """Whether it is time for a report, however little time has passed."""
        rows = len(self._rows) >= CHUNK_ITEMS or self._rows_bytes >= CHUNK_BYTES
        return rows or self._lines_bytes >= LINES_BYTES

    def add_rows(self, rows: list[bytes]) -> None:
        """Take items."""
        self._rows += rows
        self._rows_bytes += sum(map(len, rows))

    def add_lines(self, lines: list[bytes]) -> None:
        """Take lines of the log."""
        self._lines += lines
        self._lines_bytes += sum(map(len, lines))

    def add_snapshot(self, snapshot: Snapshot) -> None:
        """Take statistics; the newest win, and nothing is newer than the final ones."""
        if snapshot.final or not self._newest.final:
            self._snapshot = self._newest = snapshot

    def add_routed(self, routed: int) -> None:
        """Take how many requests were routed in all: a run that is killed has not told the last of them."""
        if routed > self._newest.routed:
            self._snapshot = self._newest = msgspec.structs.replace(self._newest, routed=routed)

    async def flushed(self) -> tuple[ItemsReport, ...]:
        """Store what came, and return what is to be told of it; raises BlobFault, having kept it."""
        if self._rows:
            self._parts.append(await self._chunked())
        if self._lines:
            self._parts.append(await self._told())
        if self._snapshot is not None:
            now = self._snapshot
            private = private_bytes(now.stats)
            self._parts.append(
                Stats(number=self._stats, scraped=now.scraped, final=now.final, private=private, routed=now.routed)
            )
            self._stats += 1
            self._snapshot = None
        parts, self._parts = tuple(self._parts), []
        return parts

    async def manifest(self) -> str:
        """Store the list of the chunks, and return its key."""
        data = packed_manifest(Manifest(tuple(self._stored)))
        key = manifest_key(*self._of, data)
        await self._blobs.put(key, data)
        return key

    async def _chunked(self) -> Chunk:
        parts = packed(self._rows, (), b"")
        key = chunk_key(*self._chain, self._chunk)
        await self._blobs.put(key, parts.data)
        behind = self._next + len(self._rows)
        told = Chunk(
            chunk=self._chunk,
            items_ref=key,
            rows_bytes=parts.rows_bytes,
            outcomes_bytes=0,
            stats_bytes=0,
            digest=parts.digest,
            first_item=self._next,
            next_item=behind,
            rows=len(self._rows),
            errors=0,
            resume_item=behind,
        )
        self._stored.append(StoredChunk(key, len(self._rows), parts.rows_bytes, self._rows_bytes))
        self._next, self._chunk = behind, self._chunk + 1
        self._rows, self._rows_bytes = [], 0
        return told

    async def _told(self) -> Logged:
        data = packed_lines(self._lines)
        key = log_key(*self._of, self._logged)
        await self._blobs.put(key, data)
        levels = [_level(line).level for line in self._lines]
        told = Logged(
            number=self._logged,
            lines=len(self._lines),
            private=b"",
            lines_ref=key,
            lines_bytes=len(data),
            levels=tuple(map(levels.count, LEVELS)),
        )
        self._logged += 1
        self._lines, self._lines_bytes = [], 0
        return told
