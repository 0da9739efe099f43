"""Which node follows which."""

from collections import Counter

from services.ledger.workflow import (
    Edge,
    EntryNode,
    SplitNode,
    WarehouseNode,
    Workflow,
    entry_of,
    next_node,
    split_choice,
)
from services.ledger.workflow_reading import document_from
from tests.unit.workflow.documents import encoded, good_document

FORK = Workflow(
    nodes=(EntryNode(id="in"), SplitNode(id="fork"), WarehouseNode(id="left"), WarehouseNode(id="right")),
    edges=(
        Edge(source="in", target="fork"),
        Edge(source="fork", target="left", percent=30),
        Edge(source="fork", target="right", percent=70),
    ),
)


def test_success_and_fail_lead_different_ways() -> None:
    workflow = document_from(encoded(good_document()))
    success, fail = next_node(workflow, "a", "success"), next_node(workflow, "a", "fail")
    assert success is not None
    assert fail is not None
    assert (success.id, fail.id) == ("extract", "b")


def test_a_success_without_an_edge_of_its_own_takes_the_default_edge() -> None:
    following = next_node(FORK, "in", "success")
    assert following is not None
    assert following.id == "fork"


def test_a_fail_never_takes_the_default_edge() -> None:
    assert next_node(FORK, "in", "fail") is None


def test_the_entry_is_found() -> None:
    assert entry_of(FORK).id == "in"


def test_a_split_sends_the_same_job_the_same_way() -> None:
    assert {split_choice(FORK, "fork", "job-1").id for _ in range(50)} == {split_choice(FORK, "fork", "job-1").id}


def test_a_split_shares_jobs_by_its_percentages() -> None:
    taken = Counter(split_choice(FORK, "fork", f"job-{number}").id for number in range(4000))
    assert 0.27 < taken["left"] / 4000 < 0.33
