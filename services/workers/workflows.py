"""Workflow documents by their reference, read from the blob store once and kept as long as they are used."""

from collections import OrderedDict

from services.ledger.provider_settings import PROVIDER_NAMES
from services.ledger.workflow import Workflow, WorkflowInvalid
from services.ledger.workflow_faults import edge_faults, node_faults, settings_faults
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
        """Return a document that can be walked; raises BlobFault or WorkflowInvalid."""
        known = self._documents.get(ref)
        if known is None:
            known = _walkable(parsed(await self._store.get(ref)))
            self._documents[ref] = known
            if len(self._documents) > self._kept:
                self._documents.popitem(last=False)
        self._documents.move_to_end(ref)
        return known


def _walkable(workflow: Workflow) -> Workflow:
    """Return a document in which no walk can get lost, or raise WorkflowInvalid.

    It was checked when it was saved, by the rules of then: a provider may have gone since. What a page may make of
    other settings is told by the walk itself.
    """
    of_settings = settings_faults(workflow, PROVIDER_NAMES, None)
    gone = (fault for fault in of_settings if fault.code == "unknown_provider")
    found = [*node_faults(workflow), *edge_faults(workflow), *gone]
    if found:
        raise WorkflowInvalid(found)
    return workflow
