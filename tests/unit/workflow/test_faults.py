"""Every fault of a workflow document is named, all of them at once."""

from collections.abc import Callable

import pytest

from services.ledger.workflow import WorkflowInvalid
from services.ledger.workflow_reading import document_from
from services.workers.extract.selectors import selector_fault
from tests.unit.workflow.documents import Document, encoded, good_document


def codes_of(document: Document) -> set[tuple[str, str]]:
    try:
        document_from(encoded(document), selector_fault=selector_fault)
    except WorkflowInvalid as invalid:
        return {(fault.code, fault.path) for fault in invalid.faults}
    return set()


def without_entry(document: Document) -> None:
    document["nodes"][0] = {"id": "entry", "kind": "warehouse"}


def with_two_entries(document: Document) -> None:
    document["nodes"].append({"id": "door", "kind": "entry"})
    document["edges"].append({"source": "door", "target": "a"})


def with_unknown_target(document: Document) -> None:
    document["edges"][4]["target"] = "nowhere"


def with_unknown_source(document: Document) -> None:
    document["edges"].append({"source": "ghost", "target": "a"})


def with_island(document: Document) -> None:
    document["nodes"].append({"id": "island", "kind": "result"})


def with_cycle(document: Document) -> None:
    document["edges"][4]["target"] = "a"


def without_warehouse(document: Document) -> None:
    document["nodes"][4]["kind"] = "result"
    document["edges"].pop()
    document["nodes"].pop(5)


def with_dead_end(document: Document) -> None:
    document["edges"].pop(5)


def with_half_split(document: Document) -> None:
    document["nodes"].append({"id": "split", "kind": "split"})
    document["edges"][0]["target"] = "split"
    document["edges"].append({"source": "split", "target": "a", "percent": 30})
    document["edges"].append({"source": "split", "target": "b", "percent": 30})


def with_unknown_provider(document: Document) -> None:
    document["nodes"][1]["settings"]["provider"] = "carrier-pigeon"


def with_same_id_twice(document: Document) -> None:
    document["nodes"].append({"id": "failed", "kind": "failed"})


def with_two_ways_on(document: Document) -> None:
    document["edges"].append({"source": "a", "target": "b", "on": "default"})


def with_edge_out_of_failed(document: Document) -> None:
    document["edges"].append({"source": "failed", "target": "result"})


def with_bad_selector(document: Document) -> None:
    document["nodes"][3]["settings"]["fields"][0]["query"] = "h1["


def with_bad_required_selector(document: Document) -> None:
    document["nodes"][1]["settings"]["validation"] = {"requiredSelector": "::"}


def with_header_that_smuggles(document: Document) -> None:
    document["nodes"][1]["settings"]["headers"] = {"X-A": "1\r\nX-B: 2"}


def with_field_twice(document: Document) -> None:
    document["nodes"][3]["settings"]["fields"].append({"name": "title", "query": "h2"})


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (without_entry, ("no_entry", "nodes")),
        (with_two_entries, ("two_entries", "nodes")),
        (with_unknown_target, ("unknown_target", "edges[4].target")),
        (with_unknown_source, ("unknown_source", "edges[7].source")),
        (with_island, ("unreachable", "nodes[7]")),
        (with_cycle, ("cycle", "edges")),
        (without_warehouse, ("no_warehouse", "nodes")),
        (with_dead_end, ("missing_edge", "nodes[3]")),
        (with_half_split, ("split_not_100", "nodes[7]")),
        (with_unknown_provider, ("unknown_provider", "nodes[1].settings.provider")),
        (with_same_id_twice, ("duplicate_id", "nodes[7].id")),
        (with_two_ways_on, ("duplicate_edge", "edges[7]")),
        (with_edge_out_of_failed, ("edge_not_allowed", "edges[7].on")),
        (with_bad_selector, ("bad_selector", "nodes[3].settings.fields[0].query")),
        (with_bad_required_selector, ("bad_selector", "nodes[1].settings.validation.requiredSelector")),
        (with_header_that_smuggles, ("bad_header", "nodes[1].settings.headers")),
        (with_field_twice, ("duplicate_field", "nodes[3].settings.fields[0].name")),
    ],
)
def test_the_fault_is_named_with_its_place(spoil: Callable[[Document], None], fault: tuple[str, str]) -> None:
    document = good_document()
    spoil(document)
    assert fault in codes_of(document)


def test_a_good_document_has_no_fault() -> None:
    assert codes_of(good_document()) == set()


def test_all_faults_are_named_at_once() -> None:
    document = good_document()
    for spoil in (with_unknown_provider, with_bad_selector, with_unknown_target, with_island, with_same_id_twice):
        spoil(document)
    assert {code for code, _ in codes_of(document)} >= {
        "unknown_provider",
        "bad_selector",
        "unknown_target",
        "unreachable",
        "duplicate_id",
    }


def test_a_cycle_is_shown_as_the_way_round() -> None:
    document = good_document()
    with_cycle(document)
    with pytest.raises(WorkflowInvalid, match="a -> b -> a"):
        document_from(encoded(document))


def test_a_cycle_apart_from_the_entry_is_found_too() -> None:
    document = good_document()
    document["nodes"] += [{"id": "x", "kind": "service"}, {"id": "y", "kind": "service"}]
    document["edges"] += [{"source": "x", "target": "y"}, {"source": "y", "target": "x"}]
    assert ("cycle", "edges") in codes_of(document)
