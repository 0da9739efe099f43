"""What is wrong with the fields of an extractor is named when the workflow is saved, however deep they stand."""

import json
from typing import Any

import pytest

from services.ledger.workflow import WorkflowInvalid
from services.ledger.workflow_reading import document_from
from services.workers.extract.selectors import selector_fault
from tests.unit.workers.fakes import workflow


def faults(*fields: dict[str, Any]) -> list[tuple[str, str]]:
    try:
        document_from(workflow(fields=fields), selector_fault=selector_fault)
    except WorkflowInvalid as error:
        return [(fault.path.partition("settings.")[2], fault.code) for fault in error.faults]
    return []


def nested(**leaf: Any) -> dict[str, Any]:
    inner = {"name": "c", "query": "p"} | leaf
    part = {"name": "b", "query": "p", "type": "object", "fields": [inner]}
    return {"name": "a", "query": "p", "type": "list", "fields": [part]}


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (nested(), []),
        (nested(query="a["), [("fields[0].fields[0].fields[0].query", "bad_selector")]),
        (nested(pattern="("), [("fields[0].fields[0].fields[0].pattern", "bad_selector")]),
        (nested(selector="jsonpath", query="$.["), [("fields[0].fields[0].fields[0].query", "bad_selector")]),
        (nested(type="object"), [("fields[0].fields[0].fields[0].fields", "no_fields")]),
        (nested(type="object", selector="jsonld", query="offers"), []),
        ({"name": "a", "query": "p", "pattern": r"(a)\1"}, [("fields[0].pattern", "bad_selector")]),
    ],
)
def test_a_field_is_checked_with_those_inside_of_it(field: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert faults(field) == expected


def test_two_fields_of_one_object_have_two_names() -> None:
    field = {"name": "a", "query": "p", "fields": [{"name": "b", "query": "p"}, {"name": "b", "query": "i"}]}
    assert faults(field | {"type": "object"}) == [
        ("fields[0].fields[0].name", "duplicate_field"),
        ("fields[0].fields[1].name", "duplicate_field"),
    ]


@pytest.mark.parametrize("change", [{"locale": "German"}, {"locale": "de\n"}, {"itemType": "float"}, {"fields": [{}]}])
def test_what_a_field_cannot_be_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(WorkflowInvalid):
        document_from(workflow(fields=[{"name": "a", "query": "p"} | change]))


def test_a_verdict_that_is_none_cannot_be_allowed() -> None:
    document = json.loads(workflow())
    document["nodes"][1]["settings"] = {"validation": {"allow": ["captcha", "loginwall"]}}
    with pytest.raises(WorkflowInvalid, match="allow"):
        document_from(json.dumps(document).encode())
