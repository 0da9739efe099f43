"""From bytes to a workflow that can run, or to the list of everything that is wrong with them."""

from collections.abc import Collection
from typing import TypeVar

import msgspec

from services.ledger.provider_settings import PROVIDER_NAMES
from services.ledger.workflow import Edge, Fault, Node, SelectorCheck, Workflow, WorkflowInvalid
from services.ledger.workflow_faults import faults

MAX_DOCUMENT_BYTES = 1024 * 1024
MAX_NODES = 500

T = TypeVar("T")


class _Outline(msgspec.Struct, forbid_unknown_fields=True):
    """The document with its nodes and edges still unread, so that each can be blamed by its number."""

    nodes: list[msgspec.Raw]
    edges: list[msgspec.Raw]
    name: str = ""


def document_from(
    data: bytes, *, providers: Collection[str] = PROVIDER_NAMES, selector_fault: SelectorCheck | None = None
) -> Workflow:
    """Read a document, or raise WorkflowInvalid naming every fault by its path."""
    workflow = parsed(data)
    found = faults(workflow, providers=providers, selector_fault=selector_fault)
    if found:
        raise WorkflowInvalid(found)
    return workflow


def parsed(data: bytes) -> Workflow:
    """Read the shape of a document only, as for one that was checked when it was saved; else WorkflowInvalid."""
    if len(data) > MAX_DOCUMENT_BYTES:
        raise WorkflowInvalid([Fault("document", "too_large", f"a document takes at most {MAX_DOCUMENT_BYTES} bytes")])
    try:
        outline = msgspec.json.decode(data, type=_Outline)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WorkflowInvalid([_shape_fault("", str(error))]) from None
    if len(outline.nodes) > MAX_NODES:
        raise WorkflowInvalid([Fault("nodes", "too_many_nodes", f"a document takes at most {MAX_NODES} nodes")])
    blamed: list[Fault] = []
    nodes: list[Node] = _each("nodes", outline.nodes, Node, blamed)  # type: ignore[arg-type]
    edges = _each("edges", outline.edges, Edge, blamed)
    if blamed:
        raise WorkflowInvalid(blamed)
    return Workflow(name=outline.name, nodes=tuple(nodes), edges=tuple(edges))


def _each(name: str, raws: list[msgspec.Raw], shape: type[T], blamed: list[Fault]) -> list[T]:
    read: list[T] = []
    for number, raw in enumerate(raws):
        try:
            read.append(msgspec.json.decode(raw, type=shape))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            blamed.append(_shape_fault(f"{name}[{number}]", str(error)))
    return read


def _shape_fault(prefix: str, message: str) -> Fault:
    """Turn msgspec's "Expected `int`, got `str` - at `$.settings.retries`" into a fault with its path in front."""
    what, _, where = message.partition(" - at `$")
    path = f"{prefix}{where.rstrip('`')}".lstrip(".")
    return Fault(path or "document", "wrong_shape", what)
