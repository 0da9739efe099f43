"""The items of a delivery that lie in chunks of their own: read piece by piece, however many they are."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from services.ledger.tasks import Delivery
from services.runtime.item_manifest import Manifest
from services.runtime.item_reading import Chunks, texts_of


@dataclass(frozen=True, slots=True)
class Chunked:
    """A delivery and its chunks, of which one is read at a time."""

    delivery: Delivery
    manifest: Manifest
    chunks: Chunks = field(repr=False)

    async def pieces(self, max_rows: int, max_bytes: int) -> AsyncIterator[list[str]]:
        """Yield the items in their order, each as its JSON, so many at once; an item that is larger is alone.

        Raises as `texts_of` does. In memory are one piece and one chunk.
        """
        held: list[str] = []
        size = 0
        async for texts in texts_of(self.chunks, self.manifest):
            for text in texts:
                if held and (len(held) >= max_rows or size + len(text) > max_bytes):
                    yield held
                    held, size = [], 0
                held.append(text)
                size += len(text)
        if held:
            yield held
