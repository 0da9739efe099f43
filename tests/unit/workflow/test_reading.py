"""Reading workflow documents."""

import msgspec
import pytest

from services.ledger.workflow import ServiceNode, Workflow, WorkflowInvalid, digest
from services.ledger.workflow_reading import document_from
from tests.unit.workflow.documents import encoded, good_document


def paths_of(data: bytes) -> set[str]:
    with pytest.raises(WorkflowInvalid) as caught:
        document_from(data)
    return {fault.path for fault in caught.value.faults}


def test_a_good_document_is_read_with_its_defaults() -> None:
    workflow = document_from(encoded(good_document()))
    node = workflow.nodes[1]
    assert isinstance(node, ServiceNode)
    assert (node.settings.retries, node.settings.retry_delay_ms, node.settings.factor) == (2, 100, 2.0)


def test_the_wire_is_camel_case_and_reads_back_as_it_was() -> None:
    workflow = document_from(encoded(good_document()))
    text = msgspec.json.encode(workflow)
    assert b'"retryDelayMs":100' in text
    assert msgspec.json.decode(text, type=Workflow) == workflow


def test_every_wrong_field_is_named_by_its_path() -> None:
    document = good_document()
    document["nodes"][1]["settings"]["retries"] = 0
    document["nodes"][2]["settings"]["timeoutSecond"] = 3
    document["edges"][3]["on"] = "sometimes"
    assert paths_of(encoded(document)) == {
        "nodes[1].settings.retries",
        "nodes[2].settings.timeoutSecond",
        "edges[3].on",
    }


@pytest.mark.parametrize("country", ["D", "DEU", "D1", "DE\n", " DE"])
def test_a_country_is_two_letters(country: str) -> None:
    document = good_document()
    document["nodes"][1]["settings"]["country"] = country
    assert "nodes[1].settings.country" in paths_of(encoded(document))


def test_an_unknown_kind_names_its_node() -> None:
    document = good_document()
    document["nodes"][4]["kind"] = "lake"
    assert paths_of(encoded(document)) == {"nodes[4].kind"}


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{", b"\xff\xfe", b'{"nodes": 3, "edges": []}', b"[" * 100_000])
def test_junk_is_refused_with_a_fault(data: bytes) -> None:
    assert paths_of(data)


def test_a_document_over_the_size_limit_is_refused() -> None:
    document = good_document()
    document["name"] = "x" * 2_000_000
    assert paths_of(encoded(document)) == {"document"}


def test_the_digest_depends_on_meaning_and_not_on_how_it_is_written() -> None:
    document = good_document()
    spelled_out = good_document()
    spelled_out["nodes"][1]["settings"]["factor"] = 2.0  # the default
    changed = good_document()
    changed["nodes"][1]["settings"]["factor"] = 3.0
    first, second, third = (digest(document_from(encoded(one))) for one in (document, spelled_out, changed))
    assert first == second != third
