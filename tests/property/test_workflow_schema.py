"""The published schema and the code that reads documents take the same structures."""

import copy
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ledger.workflow import Workflow, WorkflowInvalid
from services.ledger.workflow_reading import parsed
from services.ledger.workflow_schema import workflow_schema
from tests.unit.workflow.documents import good_document

SCHEMA = workflow_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
JUNK = st.sampled_from(
    [None, True, False, 0, 1, -1, 1.0, 2.5, 1e9, 10**20, "", "x", "DE", "DE\n", "*", "\u00e4" * 300, "direct", "fail",
     [], ["*"], [1], {}, {"x": 1}, {"id": "n", "kind": "entry"}, {"query": "h1", "name": "n"}]
).map(copy.deepcopy)  # fmt: skip


def schema_takes(document: Any) -> bool:
    return bool(VALIDATOR.is_valid(document))


def reader_takes(document: Any) -> bool:
    try:
        parsed(msgspec.json.encode(document))
    except WorkflowInvalid as error:
        if not all(fault.path and fault.message for fault in error.faults):
            raise AssertionError("a fault without its place or its words") from error
        return False
    return True


def of_schema(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that a part of the schema takes, its edges included."""
    if "$ref" in schema:
        return st.deferred(lambda: of_schema(SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]))
    if "anyOf" in schema:
        return st.one_of([of_schema(option) for option in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    return _of_type(schema)


def _of_type(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    match schema["type"]:
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(schema.get("minimum", -(2**70)), schema.get("maximum", 2**70)) | st.just(
                float(schema.get("minimum", 1))
            )
        case "number":
            least = schema.get("minimum", schema.get("exclusiveMinimum"))
            numbers = st.floats(
                least, schema.get("maximum"), exclude_min="exclusiveMinimum" in schema, allow_nan=False,
                allow_infinity=False,
            )  # fmt: skip
            return numbers | st.just(schema.get("maximum", 7))
        case "string" if "pattern" in schema:
            return st.from_regex(schema["pattern"]).filter(lambda text: len(text) <= schema.get("maxLength", 2**20))
        case "string":
            return st.text(min_size=schema.get("minLength", 0), max_size=min(schema.get("maxLength", 8), 8))
        case "array":
            return st.lists(of_schema(schema["items"]), max_size=3)
        case _:
            return _of_object(schema)


def _of_object(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "properties" not in schema:
        return st.dictionaries(st.text(max_size=4), of_schema(schema["additionalProperties"]), max_size=2)
    parts = {name: of_schema(part) for name, part in schema["properties"].items()}
    needed = {name: parts.pop(name) for name in schema["required"]}
    return st.fixed_dictionaries(needed, optional=parts)


@given(of_schema(SCHEMA))
def test_what_the_schema_takes_the_reader_takes(document: Any) -> None:
    assert schema_takes(document)
    assert reader_takes(document)


def places_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every value inside a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for name, each in inner for place in places_of(each, (*path, name)))]


@given(of_schema(SCHEMA) | st.just(good_document()), st.data())
def test_a_document_changed_anywhere_is_taken_by_both_or_by_neither(document: Any, data: st.DataObject) -> None:
    changed = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(places_of(changed)))
        inside = changed
        for name in place[:-1]:
            inside = inside[name]
        change = data.draw(st.sampled_from(["replace", "remove", "add"]))
        if not place:
            changed = data.draw(JUNK) if change == "replace" else changed
        elif change == "remove":
            del inside[place[-1]]
        elif change == "add" and isinstance(inside, dict):
            inside[data.draw(st.sampled_from(["kind", "id", "settings", "percent", "other"]))] = data.draw(JUNK)
        else:
            inside[place[-1]] = data.draw(JUNK)
    assert schema_takes(changed) == reader_takes(changed), changed


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", [field.encode_name for field in msgspec.structs.fields(Workflow)])
def test_every_field_of_a_document_is_in_the_schema(name: str) -> None:
    assert name in SCHEMA["properties"]
