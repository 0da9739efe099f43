"""Edges taken and nodes passed between two nodes that have work."""

import json

from services.ledger.workflow import Workflow, node_of
from services.ledger.workflow_reading import parsed
from services.workers.trail import leave, passed
from tests.unit.workers.fakes import FIELDS, workflow


def split_workflow() -> Workflow:
    """Return entry, then a split, all of it to provider b."""
    document = {
        "nodes": [
            {"kind": "entry", "id": "in"},
            {"kind": "split", "id": "half"},
            {"kind": "service", "id": "a"},
            {"kind": "service", "id": "b"},
            {"kind": "extractor", "id": "read", "settings": {"fields": list(FIELDS)}},
        ],
        "edges": [
            {"source": "in", "target": "half", "on": "success"},
            {"source": "half", "target": "a", "percent": 0},
            {"source": "half", "target": "b", "percent": 100},
            {"source": "b", "target": "read"},
        ],
    }
    return parsed(json.dumps(document).encode())


def test_entry_and_split_are_passed_up_to_the_first_node_with_work() -> None:
    document = split_workflow()
    trail = passed(document, node_of(document, "in"), "job-1")
    assert [(each.node.id, each.edge, each.target.id if each.target else "") for each in trail] == [
        ("in", "success", "half"),
        ("half", "default", "b"),
    ]


def test_a_success_without_an_edge_of_its_own_takes_the_default_edge() -> None:
    document = split_workflow()
    passage = leave(document, node_of(document, "b"), "success")
    assert (passage.edge, passage.target) == ("default", node_of(document, "read"))


def test_a_failure_without_a_fail_edge_is_left_by_it_to_nowhere() -> None:
    document = split_workflow()
    passage = leave(document, node_of(document, "b"), "fail")
    assert (passage.edge, passage.target) == ("fail", None)


def test_the_end_of_a_walk_is_passed_too() -> None:
    document = parsed(workflow())
    [end] = passed(document, node_of(document, "out"), "job-1")
    assert (end.node.id, end.edge, end.target) == ("out", None, None)
