"""The list of the chunks that hold the items of a job which has no document of its own: JSON, one small blob.

A spider job names it as its extraction. Whoever reads the items reads them chunk by chunk, in their order.
"""

import msgspec

from services.runtime.blob import body_key
from services.runtime.item_chunks import ITEMS

NAME = f"{ITEMS}manifest"


class BadManifest(ValueError):
    """The blob is no list of chunks."""


class StoredChunk(msgspec.Struct, frozen=True, rename="camel"):
    """One chunk, as the event says that records it."""

    key: str  # of its blob
    rows: int
    rows_bytes: int  # of its rows as they are stored, at the beginning of the blob
    json_bytes: int  # of its rows as JSON, without the ends of lines


class Manifest(msgspec.Struct, frozen=True, rename="camel"):
    """The chunks of a job, in their order; there may be none."""

    chunks: tuple[StoredChunk, ...]

    @property
    def rows(self) -> int:
        """How many items they hold."""
        return sum(each.rows for each in self.chunks)

    @property
    def json_bytes(self) -> int:
        """How large the items are as JSON."""
        return sum(each.json_bytes for each in self.chunks)


def manifest_key(org_id: str, job_id: str, attempt: int, data: bytes) -> str:
    """Return the key of a manifest, which says by a digest what it holds."""
    return body_key(org_id, job_id, attempt, f"{NAME}.json", data)


def is_manifest(key: str) -> bool:
    """Whether a key of a blob is one that `manifest_key` has made."""
    return key.rpartition("/")[2].startswith(f"{NAME}.")


def packed_manifest(manifest: Manifest) -> bytes:
    """Return a manifest as it is stored."""
    return msgspec.json.encode(manifest)


def manifest_of(data: bytes) -> Manifest:
    """Return a manifest as it was stored, or raise BadManifest."""
    try:
        return msgspec.json.decode(data, type=Manifest)
    except msgspec.DecodeError as error:
        raise BadManifest(f"no list of chunks of items: {error}") from error
