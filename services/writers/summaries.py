"""The blob store of writers that write one row, or one message, for a job: a manifest reads as a document there."""

from collections.abc import Sequence
from typing import Protocol

from services.runtime.errors import BlobFault
from services.runtime.item_manifest import is_manifest
from services.runtime.item_reading import Chunks, document_of
from services.writers.writer import Bodies, Extractions


class Store(Bodies, Extractions, Chunks, Protocol):
    """Where all of it is kept; `services.runtime.blob.BlobStore` is one."""


class Summaries:
    """Implements Bodies and Extractions. Of many items a document says how many they are."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, key: str) -> bytes:
        """Return a document; raise BlobMissing, another BlobFault, or a ValueError where it cannot be made."""
        data = await self._store.get(key)
        return await document_of(self._store, data) if is_manifest(key) else data

    async def get_each(self, keys: Sequence[str]) -> list[bytes | Exception]:
        """Return documents in the order of their keys, or what is wrong with them."""
        found = await self._store.get_each(keys)
        return [
            await self._made(each) if isinstance(each, bytes) and is_manifest(key) else each
            for key, each in zip(keys, found, strict=True)
        ]

    async def delete_job(self, org_id: str, job_id: str, spared: str = "") -> None:
        """Remove bodies as the store does."""
        await self._store.delete_job(org_id, job_id, spared)

    async def _made(self, data: bytes) -> bytes | Exception:
        try:
            return await document_of(self._store, data)
        except (BlobFault, ValueError) as error:
            return error
