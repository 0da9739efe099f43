"""Every fault of a workflow document is named, all of them at once."""

from collections.abc import Callable
from typing import get_args

import pytest

from services.ledger.workflow import MAX_EDGES, MAX_NODES, WorkflowInvalid
from services.ledger.workflow_codes import FAULTS, FaultCode
from services.ledger.workflow_reading import document_from
from services.workers.extract.selectors import selector_fault
from tests.unit.workflow.documents import Document, encoded, good_document


def codes_of(document: Document) -> set[tuple[str, str]]:
    try:
        document_from(encoded(document), selector_fault=selector_fault, route_form=route_form)
    except WorkflowInvalid as invalid:
        return {(fault.code, fault.path) for fault in invalid.faults}
    return set()


def route_form(route: str) -> str | None:
    return None if " " in route else route.lower()


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


def with_header_of_the_sender(document: Document) -> None:
    document["nodes"][1]["settings"]["headers"] = {"X-A": "1", "Content-length": "5"}


def with_header_twice(document: Document) -> None:
    document["nodes"][1]["settings"]["headers"] = {"X-A": "1", "x-a": "2"}


def with_line_break_in_an_id(document: Document) -> None:
    document["nodes"][1]["id"] = f"{document['nodes'][1]['id']}\n"
    for edge in document["edges"]:
        for end in ("source", "target"):
            edge[end] = edge[end].replace("fetch", "fetch\n") if edge[end] == "fetch" else edge[end]


def with_field_twice(document: Document) -> None:
    document["nodes"][3]["settings"]["fields"].append({"name": "title", "query": "h2"})


def with_too_many_nodes(document: Document) -> None:
    document["nodes"] += [{"id": f"n{number}", "kind": "result"} for number in range(MAX_NODES)]


def with_too_many_edges(document: Document) -> None:
    document["edges"] += [{"source": "a", "target": "b"}] * MAX_EDGES


def with_a_field_left_out(document: Document) -> None:
    del document["nodes"][3]["settings"]


def with_misspelt_field(document: Document) -> None:
    document["nodes"][2]["settings"]["retry"] = 3


def with_bad_value(document: Document) -> None:
    document["nodes"][1]["settings"]["retries"] = 0


def with_fail_edge_out_of_the_entry(document: Document) -> None:
    document["edges"].append({"source": "entry", "target": "b", "on": "fail"})


def with_success_edge_out_of_a_split(document: Document) -> None:
    with_half_split(document)
    document["edges"][-1]["on"] = "success"


def with_percentage_outside_a_split(document: Document) -> None:
    document["edges"][1]["percent"] = 50


def with_edge_of_a_split_without_percentage(document: Document) -> None:
    with_half_split(document)
    del document["edges"][-1]["percent"]


def with_a_setting_that_its_provider_has_not(document: Document) -> None:
    document["nodes"][1]["settings"]["renderJs"] = True


def with_no_fields(document: Document) -> None:
    document["nodes"][3]["settings"]["fields"] = []


def with_bad_route(document: Document) -> None:
    document["routes"] = ["*", "no host"]


def with_route_twice(document: Document) -> None:
    document["routes"] = ["domain:a.example", "domain:A.example"]


CASES: list[tuple[Callable[[Document], None], tuple[FaultCode, str]]] = [
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
    (with_edge_out_of_failed, ("terminal_edge", "edges[7].on")),
    (with_bad_selector, ("bad_selector", "nodes[3].settings.fields[0].query")),
    (with_bad_required_selector, ("bad_selector", "nodes[1].settings.validation.requiredSelector")),
    (with_header_that_smuggles, ("bad_header", "nodes[1].settings.headers.X-A")),
    (with_header_of_the_sender, ("bad_header", "nodes[1].settings.headers.Content-length")),
    (with_header_twice, ("bad_header", "nodes[1].settings.headers.x-a")),
    (with_line_break_in_an_id, ("bad_value", "nodes[1].id")),
    (with_field_twice, ("duplicate_field", "nodes[3].settings.fields[0].name")),
    (with_too_many_nodes, ("too_many_nodes", "nodes")),
    (with_too_many_edges, ("too_many_edges", "edges")),
    (with_a_field_left_out, ("missing_field", "nodes[3].settings")),
    (with_misspelt_field, ("unknown_field", "nodes[2].settings.retry")),
    (with_bad_value, ("bad_value", "nodes[1].settings.retries")),
    (with_fail_edge_out_of_the_entry, ("fail_edge_not_allowed", "edges[7].on")),
    (with_success_edge_out_of_a_split, ("edge_not_allowed", "edges[8].on")),
    (with_percentage_outside_a_split, ("percent_not_allowed", "edges[1].percent")),
    (with_edge_of_a_split_without_percentage, ("missing_percent", "edges[8].percent")),
    (with_a_setting_that_its_provider_has_not, ("not_honoured", "nodes[1].settings.renderJs")),
    (with_no_fields, ("no_fields", "nodes[3].settings.fields")),
    (with_bad_route, ("bad_route", "routes[1]")),
    (with_route_twice, ("duplicate_route", "routes[1]")),
]
# Faults of the bytes, not of a document; see test_reading.py.
OF_BYTES = {"not_json", "too_large"}


@pytest.mark.parametrize(("spoil", "fault"), CASES)
def test_the_fault_is_named_with_its_place(spoil: Callable[[Document], None], fault: tuple[str, str]) -> None:
    document = good_document()
    spoil(document)
    assert fault in codes_of(document)


def test_every_code_has_a_meaning_and_a_document_that_provokes_it() -> None:
    assert {fault[0] for _, fault in CASES} | OF_BYTES == set(get_args(FaultCode)) == set(FAULTS)


def test_a_good_document_has_no_fault() -> None:
    assert codes_of(good_document()) == set()


def test_all_faults_are_named_at_once() -> None:
    document = good_document()
    faults = (with_unknown_provider, with_bad_selector, with_unknown_target, with_island, with_same_id_twice)
    shapes = (with_misspelt_field, with_bad_value, with_bad_route)
    for spoil in (*faults, *shapes):
        spoil(document)
    assert {code for code, _ in codes_of(document)} >= {
        "unknown_provider",
        "bad_selector",
        "unknown_target",
        "unreachable",
        "duplicate_id",
        "unknown_field",
        "bad_value",
        "bad_route",
    }


def test_what_cannot_be_read_leads_to_no_fault_that_is_none() -> None:
    document = good_document()
    document["nodes"][1]["settings"] = {"retries": "many", "headers": {"X-A": 1}, "provider": "direct"}
    document["nodes"][3]["settings"]["fields"] = [7, {"name": "title", "query": "h1", "type": "colour"}]
    assert codes_of(document) == {
        ("bad_value", "nodes[1].settings.retries"),
        ("bad_value", "nodes[1].settings.headers.X-A"),
        ("bad_value", "nodes[3].settings.fields[0]"),
        ("bad_value", "nodes[3].settings.fields[1].type"),
    }


def test_ways_through_a_document_are_judged_only_once_all_edges_can_be_read() -> None:
    document = good_document()
    with_half_split(document)
    document["edges"][-1]["percent"] = "30"
    with_two_entries(document)
    assert codes_of(document) == {("bad_value", "edges[8].percent"), ("two_entries", "nodes")}


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
