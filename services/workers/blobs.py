"""Where a walk keeps its bodies."""

from typing import Protocol


class Blobs(Protocol):
    """Keeps bodies durably; `services.runtime.blob.BlobStore` is one."""

    async def put(self, key: str, data: bytes) -> None:
        """Return when the body is durable; raise BlobFault when it is not."""

    async def get(self, key: str) -> bytes:
        """Return a body; raise BlobMissing when there is none, another BlobFault when the store does not say."""
