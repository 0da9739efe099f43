"""The published contract: typed events, Avro schemas and documentation agree, now and with everything released."""

import io
import json
from typing import Any

import fastavro
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.avro_of import record_schema
from schemas.check import problems, released, shape_problems
from schemas.codec import Decoder, Encoder, NotAnEvent, UnknownSchema
from schemas.compatibility import incompatibilities
from schemas.events import EVENT_TYPES, JobSubmitted
from schemas.generate import EVENTS_PAGE
from schemas.recorded import Header, Recorded
from schemas.values import Vocabulary

IDS = {name: number for number, name in enumerate(EVENT_TYPES, start=1)}
SCHEMAS = {number: record_schema(name) for name, number in IDS.items()}
BINARY = {"private": b"", "idempotency_digest": b"", "request_digest": b""}
BODY: dict[str, Any] = {"org_id": "o", "job_id": "j", **BINARY}
HEADER = Header(
    event_id=bytes(16),
    event_type="JobSubmitted",
    seq=1,
    partition=0,
    position=7,
    occurred_at=1_800_000_000_123_457,
    actor="api:k1",
    cause=-1,
    correlation_id="c",
    traceparent="",
    prev_hash=bytes(32),
)
HEADER_FIELDS: dict[str, Any] = msgspec.to_builtins(HEADER, builtin_types=(bytes,))


def by_id(schema_id: int) -> dict[str, Any]:
    """Stand in for the registry."""
    if schema_id not in SCHEMAS:
        raise UnknownSchema(f"no schema {schema_id}")
    return SCHEMAS[schema_id]


ENCODER, DECODER = Encoder(IDS), Decoder(by_id)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)  # what UTF-8 can write


@pytest.mark.parametrize("name", sorted(EVENT_TYPES))
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_every_event_comes_back_as_it_went_in(name: str, data: st.DataObject) -> None:
    event = EVENT_TYPES[name](
        org_id=data.draw(TEXTS),
        job_id=data.draw(TEXTS),
        attempt=data.draw(st.integers(0, 2**62)),
        private=data.draw(st.binary(max_size=64)),
    )
    recorded = Recorded(msgspec.structs.replace(HEADER, event_type=name), event)
    assert DECODER.decode(ENCODER.encode(recorded)) == recorded


def test_the_contract_has_no_problems() -> None:
    assert list(problems()) == []


@pytest.mark.parametrize(("version", "name", "text"), sorted(released()))
def test_committed_schemas_are_compatible_with_every_released_one(version: str, name: str, text: str) -> None:
    now = json.dumps(record_schema(name))
    assert incompatibilities("FULL_TRANSITIVE", now, [text]) == [], f"{name} broke {version}"


def test_a_field_or_an_enum_without_default_is_refused() -> None:
    schema = record_schema("JobSubmitted")
    fields = {field["name"]: field for field in schema["fields"]}
    del fields["domain"]["default"]
    del fields["vocabulary"]["type"]["default"]
    assert len(list(shape_problems(schema))) == 2


def test_an_enum_symbol_from_the_future_is_read_as_unknown() -> None:
    future = record_schema("JobSubmitted")
    vocabulary = next(field["type"] for field in future["fields"] if field["name"] == "vocabulary")
    vocabulary["symbols"] = [*vocabulary["symbols"], "robot"]
    record = HEADER_FIELDS | BODY | {"vocabulary": "robot"}
    data = _encoded(future, record)
    decoded = Decoder(lambda _: future).decode(data)
    assert decoded is not None
    assert isinstance(decoded.event, JobSubmitted)
    assert decoded.event.vocabulary is Vocabulary.UNKNOWN


def test_a_field_from_the_future_is_ignored_and_a_missing_one_gets_its_default() -> None:
    future = record_schema("JobSubmitted")
    future["fields"] = [field for field in future["fields"] if field["name"] != "domain"]
    future["fields"].append({"name": "colour", "type": "string", "default": ""})
    record = HEADER_FIELDS | BODY | {"colour": "red"}
    data = _encoded(future, record)
    decoded = Decoder(lambda _: future).decode(data)
    assert decoded is not None
    assert isinstance(decoded.event, JobSubmitted)
    assert decoded.event.domain == ""


def test_an_event_type_from_the_future_is_skipped() -> None:
    future = record_schema("JobSubmitted") | {"name": "JobPraised"}
    record = HEADER_FIELDS | BODY
    data = _encoded(future, record)
    assert Decoder(lambda _: future).decode(data) is None


@pytest.mark.parametrize(
    "junk", [b"", b"\x00", b"\x01\x00\x00\x00\x01abc", b"\x00\x00\x00\x00\x01", b"\x00\x00\x00\x00\x01\xff"]
)
def test_junk_is_no_event(junk: bytes) -> None:
    with pytest.raises(NotAnEvent):
        Decoder(by_id).decode(junk)


def test_an_unknown_schema_id_is_named() -> None:
    with pytest.raises(UnknownSchema):
        Decoder(by_id).decode(b"\x00\x00\x00\x03\xe7abc")


def test_every_field_is_documented() -> None:
    page = EVENTS_PAGE.read_text()
    for name in EVENT_TYPES:
        assert f"## {name}\n" in page
        for field in record_schema(name)["fields"]:
            assert field["doc"], f"{name}.{field['name']} says nothing"
            assert f"`{field['name']}`" in page


def _encoded(schema: dict[str, Any], record: dict[str, Any]) -> bytes:
    out = io.BytesIO(b"\x00\x00\x00\x00\x01")
    out.seek(5)
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), record)
    return out.getvalue()
