"""From bytes to a workflow that can run, or to the list of everything that is wrong with them."""

from collections.abc import Collection
from typing import Any, get_args

import msgspec

from services.ledger.provider_settings import PROVIDER_NAMES
from services.ledger.workflow import (
    Edge,
    ExtractorNode,
    ExtractorSettings,
    Fault,
    Field,
    Node,
    NodeId,
    ResultNode,
    RouteCheck,
    SelectorCheck,
    Workflow,
    WorkflowInvalid,
)
from services.ledger.workflow_faults import (
    edge_faults,
    faults,
    name_faults,
    node_faults,
    route_faults,
    settings_faults,
)
from services.ledger.workflow_shape import shaped

MAX_DOCUMENT_BYTES = 1024 * 1024
_KINDS: dict[str, type[Any]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Node)}
_FILLING = ExtractorSettings(fields=(Field(name="any", query="*"),))


def document_from(
    data: bytes,
    *,
    providers: Collection[str] = PROVIDER_NAMES,
    selector_fault: SelectorCheck | None = None,
    route_form: RouteCheck | None = None,
) -> Workflow:
    """Read a document, or raise WorkflowInvalid naming every fault by its path."""
    value = _decoded(data)
    found: list[Fault] = []
    plain = shaped(value, Workflow, "", found)
    if not found:
        workflow = msgspec.convert(plain, Workflow)
        found = faults(workflow, providers=providers, selector_fault=selector_fault, route_form=route_form)
    else:
        found += _more(value, plain, found, providers, selector_fault, route_form)
    if found:
        raise WorkflowInvalid(found)
    return workflow


def parsed(data: bytes) -> Workflow:
    """Read the shape of a document only, as for one that was checked when it was saved; else WorkflowInvalid."""
    found: list[Fault] = []
    plain = shaped(_decoded(data), Workflow, "", found)
    if found:
        raise WorkflowInvalid(found)
    return msgspec.convert(plain, Workflow)


def _decoded(data: bytes) -> Any:
    if len(data) > MAX_DOCUMENT_BYTES:
        raise WorkflowInvalid([Fault("document", "too_large", f"a document takes at most {MAX_DOCUMENT_BYTES} bytes")])
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkflowInvalid([Fault("document", "not_json", str(error))]) from None


def _more(
    value: Any,
    plain: Any,
    found: Collection[Fault],
    providers: Collection[str],
    selector_fault: SelectorCheck | None,
    route_form: RouteCheck | None,
) -> list[Fault]:
    """Return what else is wrong with a document of the wrong shape, as far as it can be told without guessing."""
    if not isinstance(value, dict) or not isinstance(plain.get("nodes"), list):
        return []
    known = all(_named(node) for node in value["nodes"])
    nodes = tuple(_filled(node, number) for number, node in enumerate(plain["nodes"]))
    edges_read = "edges" in plain and not any(fault.path.startswith("edges") for fault in found)
    edges = msgspec.convert(plain["edges"], tuple[Edge, ...]) if edges_read else ()
    workflow = Workflow(nodes=nodes, edges=edges)
    return [
        *(node_faults(workflow) if known else ()),
        *(name_faults(workflow) if known else ()),
        *(edge_faults(workflow) if known and edges_read else ()),
        *settings_faults(workflow, providers, selector_fault),
        *route_faults(plain.get("routes", ()), route_form),
    ]


def _named(node: Any) -> bool:
    """Whether a node says who and of what kind it is."""
    if not isinstance(node, dict) or node.get("kind") not in _KINDS:
        return False
    found: list[Fault] = []
    shaped(node.get("id"), NodeId, "", found)
    return not found


def _filled(node: Any, number: int) -> Node:
    """Return a node as far as it can be read, with settings in which nothing is wrong where they cannot."""
    try:
        return msgspec.convert(node, Node)  # type: ignore[no-any-return]
    except msgspec.ValidationError:
        pass
    plain = node if isinstance(node, dict) else {}
    node_id = plain.get("id", f"node {number}")
    kind = _KINDS.get(plain.get("kind", ""), ResultNode)
    return ExtractorNode(id=node_id, settings=_FILLING) if kind is ExtractorNode else kind(id=node_id)
