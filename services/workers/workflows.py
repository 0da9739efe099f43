"""Workflow documents by their reference, read from the blob store once and kept as long as they are used."""

from collections import OrderedDict

from services.ledger.workflow import Workflow
from services.ledger.workflow_reading import parsed
from services.workers.blobs import Blobs

KEPT_DOCUMENTS = 256


class Workflows:
    """The documents that were used last. A reference names one content for ever, so nothing is ever read again."""

    def __init__(self, store: Blobs, kept: int = KEPT_DOCUMENTS) -> None:
        self._store = store
        self._kept = kept
        self._documents: OrderedDict[str, Workflow] = OrderedDict()

    async def document(self, ref: str) -> Workflow:
        """Return a document; raises BlobFault or WorkflowInvalid."""
        known = self._documents.get(ref)
        if known is None:
            known = parsed(await self._store.get(ref))
            self._documents[ref] = known
            if len(self._documents) > self._kept:
                self._documents.popitem(last=False)
        self._documents.move_to_end(ref)
        return known
