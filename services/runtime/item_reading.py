"""Reads the items that a manifest lists, a chunk at a time, as every store takes them."""

import json
from collections.abc import AsyncIterator
from typing import Protocol

import cramjam
import msgspec

from schemas.storable import ESCAPED, storable
from services.runtime.item_chunks import lines_of
from services.runtime.item_manifest import Manifest, StoredChunk, manifest_of

WHOLE_BYTES = 64 * 1024  # of all items of a job as JSON: more of them are no document, only how many they are


class BadItems(ValueError):
    """A chunk is not what the manifest says, or holds what is no JSON."""


class Chunks(Protocol):
    """Where chunks are kept; BlobStore is one."""

    async def first(self, key: str, length: int) -> bytes:
        """Return so many bytes at the beginning of a blob; raise BlobMissing, or another BlobFault."""


async def texts_of(chunks: Chunks, manifest: Manifest) -> AsyncIterator[list[str]]:
    """Yield the items of each chunk, in their order, each as its JSON. Raises BadItems, BlobMissing, BlobFault."""
    for chunk in manifest.chunks:
        part = await chunks.first(chunk.key, chunk.rows_bytes)
        yield [_text_of(chunk, line) for line in _lines_of(chunk, part)]


async def document_of(chunks: Chunks, data: bytes) -> bytes:
    """Return what a manifest says as the document of an extraction: few items themselves, else how many there are.

    Raises as `texts_of` does, and BadManifest.
    """
    manifest = manifest_of(data)
    if manifest.json_bytes > WHOLE_BYTES:
        said = {"items_total": manifest.rows, "items_bytes": manifest.json_bytes}
        return msgspec.json.encode({"normalized": said, "itemCount": manifest.rows})
    texts = [text async for chunk in texts_of(chunks, manifest) for text in chunk]
    items = msgspec.Raw(f"[{','.join(texts)}]".encode())
    return msgspec.json.encode({"normalized": {"items": items}, "itemCount": manifest.rows})


def _lines_of(chunk: StoredChunk, part: bytes) -> list[bytes]:
    try:
        lines = lines_of(part)
    except cramjam.DecompressionError as error:
        raise BadItems(f"{chunk.key} is no chunk of items: {error}") from error
    if len(lines) != chunk.rows:
        raise BadItems(f"{chunk.key} has {len(lines)} items, and is said to have {chunk.rows}")
    return lines


def _text_of(chunk: StoredChunk, line: bytes) -> str:
    try:
        if ESCAPED.search(line):
            line = msgspec.json.encode(storable(json.loads(line)))  # msgspec reads no halves of surrogate pairs
        return line.decode()
    except (ValueError, RecursionError) as error:
        raise BadItems(f"{chunk.key} has an item that is no JSON: {type(error).__name__}") from error
