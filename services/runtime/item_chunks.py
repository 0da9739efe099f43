"""Chunks of items as they are in the blob store, the plan that they follow, and lines: JSON lines, zstd.

A chunk has three parts, one behind the other: results, outcomes, statistics. Their sizes stand in the event that
records it, so that each can be read by itself.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

import cramjam

from services.ledger.items import DIGEST_BYTES
from services.runtime.blob import blob_key

ZSTD_LEVEL = 3
ITEMS = "items-"  # what the names of all blobs of items begin with, those of no other blob of a job do

LOG = "log-"  # what the names of blobs of lines begin with


@dataclass(frozen=True, slots=True)
class Packed:
    """A chunk as it is stored."""

    data: bytes = field(repr=False)
    rows_bytes: int
    outcomes_bytes: int
    stats_bytes: int

    @property
    def digest(self) -> bytes:
        """Its hash."""
        return hashlib.blake2b(self.data, digest_size=DIGEST_BYTES).digest()


def plan_key(org_id: str, chain_id: str, link: int, attempt: int) -> str:
    """Return the key of a plan, which is kept as long as any job of its chain has results."""
    return blob_key(org_id, chain_id, link, f"{ITEMS}plan-{attempt}")


def chunk_key(org_id: str, chain_id: str, link: int, attempt: int, chunk: int) -> str:
    """Return the key of a chunk, likewise; no other attempt at no other job has the same."""
    return blob_key(org_id, chain_id, link, f"{ITEMS}{attempt}-{chunk}")


def log_key(org_id: str, job_id: str, attempt: int, number: int) -> str:
    """Return the key of lines that a job said, which are kept as long as the job has results; packed as lines are."""
    return blob_key(org_id, job_id, attempt, f"{LOG}{number}")


def packed(rows: Iterable[bytes], outcomes: Iterable[bytes], stats: bytes) -> Packed:
    """Pack lines, without their ends, and statistics."""
    parts = [packed_lines(rows), packed_lines(outcomes), _compressed(stats)]
    return Packed(b"".join(parts), *map(len, parts))


def packed_lines(lines: Iterable[bytes]) -> bytes:
    """Pack lines, without their ends."""
    return _compressed(b"\n".join(lines))


def lines_of(part: bytes) -> list[bytes]:
    """Return the lines of a part."""
    text = bytes(cramjam.zstd.decompress(part)) if part else b""
    return text.split(b"\n") if text else []


def rows_part(data: bytes, rows_bytes: int) -> list[bytes]:
    """Return the results of a chunk, each as JSON."""
    return lines_of(data[:rows_bytes])


def outcomes_part(data: bytes, rows_bytes: int, outcomes_bytes: int) -> list[bytes]:
    """Return the outcomes of a chunk, each as JSON."""
    return lines_of(data[rows_bytes : rows_bytes + outcomes_bytes])


def stats_part(data: bytes, stats_bytes: int) -> bytes:
    """Return the statistics at the end of a chunk, as JSON."""
    return b"".join(lines_of(data[len(data) - stats_bytes :]))


def _compressed(text: bytes) -> bytes:
    return bytes(cramjam.zstd.compress(text, level=ZSTD_LEVEL)) if text else b""
