"""Workflow documents are read once, and the ones used last are kept."""

import pytest

from services.ledger.workflow import WorkflowInvalid
from services.runtime.errors import BlobMissing
from services.workers.workflows import Workflows
from tests.unit.workers.fakes import MemoryBlobs, service, workflow


async def test_a_document_is_read_once() -> None:
    blobs = MemoryBlobs({"w": workflow()})
    workflows = Workflows(blobs)
    first = await workflows.document("w")
    blobs.blobs.clear()
    assert await workflows.document("w") is first


async def test_the_document_that_was_not_used_for_longest_goes_first() -> None:
    blobs = MemoryBlobs({name: workflow() for name in "abc"})
    workflows = Workflows(blobs, kept=2)
    for name in "abac":
        await workflows.document(name)
    blobs.blobs.clear()
    await workflows.document("a")
    with pytest.raises(BlobMissing):
        await workflows.document("b")


async def test_a_broken_document_is_not_kept() -> None:
    blobs = MemoryBlobs({"w": b"{}"})
    workflows = Workflows(blobs)
    with pytest.raises(WorkflowInvalid):
        await workflows.document("w")
    blobs.blobs["w"] = workflow()
    await workflows.document("w")


async def test_a_document_of_before_is_walked_whatever_its_nodes_are_called() -> None:
    walked = await Workflows(MemoryBlobs({"w": workflow(service("a\u200bb\n"))})).document("w")
    assert "a\u200bb\n" in {node.id for node in walked.nodes}
