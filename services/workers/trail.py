"""The way through a workflow between two nodes that have work: edges taken, and nodes merely passed."""

from dataclasses import dataclass
from typing import assert_never

from services.ledger.workflow import (
    EdgeKind,
    EntryNode,
    FailedNode,
    Node,
    ResultNode,
    SplitNode,
    Workflow,
    next_node,
    split_choice,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """One node and the edge by which it was left; `target` None: the walk ended there."""

    node: Node
    edge: EdgeKind | None
    target: Node | None


def leave(workflow: Workflow, node: Node, wanted: EdgeKind) -> Passage:
    """Return by which edge a node is left: a success takes the default edge where there is no success edge."""
    target = next_node(workflow, node.id, wanted)
    if wanted == "success":
        own = any(edge.source == node.id and edge.on == "success" for edge in workflow.edges)
        return Passage(node, ("success" if own else "default") if target else None, target)
    return Passage(node, wanted, target)


def passed(workflow: Workflow, node: Node | None, job_id: str) -> list[Passage]:
    """Return the nodes without work from `node` on, up to the next one with work or to the end of the walk."""
    trail: list[Passage] = []
    while isinstance(node, EntryNode | SplitNode | ResultNode | FailedNode):
        match node:
            case EntryNode():
                trail.append(leave(workflow, node, "success"))
            case SplitNode():
                trail.append(Passage(node, "default", split_choice(workflow, node.id, job_id)))
            case ResultNode() | FailedNode():
                trail.append(Passage(node, None, None))
            case _:
                assert_never(node)
        node = trail[-1].target
    return trail
