"""Which node follows which."""

import hashlib
from collections import Counter

import pytest

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


def shares(percents: tuple[int, ...], node_id: str = "fork", jobs: int = 20_000) -> list[float]:
    """Return the share of jobs, with ids as they are made, that takes each branch."""
    workflow = fork(percents, node_id)
    taken = Counter(split_choice(workflow, node_id, job_id(number)).id for number in range(jobs))
    return [taken[f"to-{number}"] / jobs for number in range(len(percents))]


def fork(percents: tuple[int, ...], node_id: str = "fork") -> Workflow:
    """Return a document that forks by these percentages."""
    targets = tuple(WarehouseNode(id=f"to-{number}") for number in range(len(percents)))
    edges = (Edge(source=node_id, target=f"to-{number}", percent=share) for number, share in enumerate(percents))
    return Workflow(
        nodes=(EntryNode(id="in"), SplitNode(id=node_id), *targets), edges=(Edge(source="in", target=node_id), *edges)
    )


def job_id(number: int) -> str:
    """Return ids that differ in a few digits, as those of jobs submitted together do."""
    return f"01a2282a-fcfb-70af-a5b1-{number:012x}"


@pytest.mark.parametrize("percents", [(30, 70), (1, 99), (50, 25, 25), (0, 100), (10,) * 10])
def test_a_split_shares_jobs_by_its_percentages(percents: tuple[int, ...]) -> None:
    """Within five standard deviations; the ids are fixed, so it passes always or never."""
    for share, percent in zip(shares(percents), percents, strict=True):
        chance = percent / 100
        assert abs(share - chance) <= 5 * (chance * (1 - chance) / 20_000) ** 0.5


def test_two_splits_of_a_workflow_do_not_choose_alike() -> None:
    first, second = fork((50, 50), "first"), fork((50, 50), "second")
    same = sum(
        split_choice(first, "first", job_id(number)).id == split_choice(second, "second", job_id(number)).id
        for number in range(4_000)
    )
    assert 0.45 < same / 4_000 < 0.55


def test_the_hash_of_a_split_is_the_documented_one() -> None:
    for number in range(200):
        hashed = hashlib.sha256(b"fork\0" + job_id(number).encode()).digest()
        place = int.from_bytes(hashed[:8], "big") % 100
        assert split_choice(FORK, "fork", job_id(number)).id == ("left" if place < 30 else "right")
    assert split_choice(FORK, "fork", "job-1").id == "left"  # a version that hashes otherwise moves jobs under way


def test_a_job_keeps_its_branch_in_a_version_that_gives_that_branch_more() -> None:
    before, later = fork((30, 70)), fork((40, 60))
    for number in range(2_000):
        if split_choice(before, "fork", job_id(number)).id == "to-0":
            assert split_choice(later, "fork", job_id(number)).id == "to-0"
