"""What was extracted, read again from the blob store."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from projections.verification.expected import read_json
from schemas.storable import counted
from services.runtime.blob import BlobStore
from services.runtime.errors import BlobMissing
from services.runtime.item_manifest import is_manifest
from services.runtime.item_reading import document_of as summary_of

READS_AT_ONCE = 16
ESCAPE = b"\\u"  # JSON spells what no store takes with one


class Document(Struct, frozen=True):
    """An extraction as a row holds it."""

    normalized: Any
    replaced_characters: int


Documents = Callable[[Iterable[str]], Mapping[str, Document]]  # by key; missing and unreadable ones are left out
NOTHING = Document({}, 0)  # of a job for which no extractor ran


def documents_of(blobs: BlobStore) -> Documents:
    """Return what reads extractions by their keys."""
    return lambda keys: asyncio.run(_read(blobs, set(keys)))


async def _read(blobs: BlobStore, keys: set[str]) -> dict[str, Document]:
    places = asyncio.Semaphore(READS_AT_ONCE)

    async def read(key: str) -> tuple[str, Document | None]:
        async with places:
            try:
                if not key:
                    return key, NOTHING
                data = await blobs.get(key)
                return key, document_of(await summary_of(blobs, data) if is_manifest(key) else data)
            except (BlobMissing, ValueError, AttributeError, TypeError):  # gone, no JSON, or not one of an extraction
                return key, None

    return {key: document for key, document in await asyncio.gather(*map(read, keys)) if document}


def document_of(data: bytes) -> Document:
    """Return what a row holds of an extraction: text that every store takes, and how many characters that cost."""
    found = read_json(data)
    normalized, replaced = found.get("normalized", {}), int(found.get("replacedCharacters", 0))
    if ESCAPE in data:
        normalized, more = counted(normalized)
        replaced += more
    return Document(normalized, replaced)
