"""AsyncAPI of the events on Kafka and of the streams."""

import base64
import io
import json
import re
from typing import Any

import fastavro
import jsonschema
import msgspec
import pytest

from api import asyncapi, asyncapi_records
from schemas.avro_of import record_schema
from schemas.codec import FRAME, Decoder, Encoder
from schemas.events import EVENT_TYPES
from schemas.examples import example
from schemas.generate import AVRO_DIRECTORY
from services.cli.docs_pages import ASYNCAPI_PAGE
from services.decider.outgoing import event_headers
from services.runtime.dead_letter import letter_of
from tests.fakes.records import event_record
from tests.published import asyncapi_schema
from tests.unit.ledger.world import World

DOCUMENT = asyncapi.document()
MESSAGES: dict[str, Any] = DOCUMENT["components"]["messages"]


def test_docs_asyncapi_json_is_current() -> None:
    assert ASYNCAPI_PAGE.read_text() == asyncapi.text()


def test_every_reference_leads_somewhere() -> None:
    for found in re.findall(r'"\$ref":"#/([^"]+)"', msgspec.json.encode(DOCUMENT).decode()):
        place: Any = DOCUMENT
        for name in found.split("/"):
            place = place[name]


def test_every_event_of_the_log_is_described_by_the_schema_that_is_registered() -> None:
    assert set(DOCUMENT["channels"]["events"]["messages"]) == set(EVENT_TYPES)
    for name in EVENT_TYPES:
        schema = MESSAGES[name]["payload"]["schema"]
        assert schema == json.loads((AVRO_DIRECTORY / f"{name}.avsc").read_text())
        fastavro.parse_schema(schema)


def test_the_headers_are_those_that_records_have() -> None:
    [registered] = World().org().seen
    assert set(MESSAGES["OrgRegistered"]["headers"]["properties"]) == {
        name for name, _ in event_headers(registered, b"")
    }


def test_the_shapes_of_a_stream_are_described_by_the_event_that_they_come_as() -> None:
    told = DOCUMENT["channels"]["stream"]["messages"]
    assert {MESSAGES[name]["name"] for name in told} == set(asyncapi.SHAPES)
    for name, shape in asyncapi.SHAPES.items():
        schema = DOCUMENT["components"]["schemas"][shape.__name__]
        assert name in schema["properties"]["event"]["enum"]


def test_the_document_is_one_by_the_schema_that_asyncapi_publishes() -> None:
    schema = asyncapi_schema(DOCUMENT["asyncapi"])
    judge = jsonschema.validators.validator_for(schema)(schema)
    assert list(judge.iter_errors(json.loads(asyncapi.text()))) == []
    broken = DOCUMENT | {"channels": {"events": DOCUMENT["channels"]["events"] | {"messages": ["JobCompleted"]}}}
    assert not judge.is_valid(broken), "a judge that refuses nothing"


@pytest.mark.parametrize("name", sorted(EVENT_TYPES))
def test_the_example_of_an_event_is_one(name: str) -> None:
    message, recorded = MESSAGES[name], example(name)
    [sent] = message["examples"]
    jsonschema.validate(sent["headers"], message["headers"])
    assert sent["headers"] == {
        header: value.decode() for header, value in event_headers(recorded, asyncapi_records.ENCODER.encode(recorded))
    }
    assert [recorded.event.org_id] == message["bindings"]["kafka"]["key"]["examples"]
    schema = message["payload"]["schema"]
    [record] = fastavro.json_reader(io.StringIO(json.dumps(sent["payload"])), fastavro.parse_schema(schema))
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(schema), record)
    assert body.getvalue() == base64.b64decode(message["x-example-avro-base64"])
    decoder = Decoder(lambda _: record_schema(name))
    assert decoder.decode(FRAME.pack(0, 7) + body.getvalue()) == recorded
    assert Encoder(dict.fromkeys(EVENT_TYPES, 7)).encode(recorded) == FRAME.pack(0, 7) + body.getvalue()


def test_examples_leave_no_text_unknown_and_say_which_partition_org_or_job_they_are_about() -> None:
    assert example("WorkerAlive").event.org_id == ""
    assert (example("OrgPaused").event.org_id, example("OrgPaused").event.job_id) == ("acme", "")
    assert example("JobCompleted").event.job_id
    assert "unknown" not in json.dumps([MESSAGES[name]["examples"] for name in EVENT_TYPES])


def test_the_headers_of_a_dead_letter_are_described() -> None:
    record = event_record(1)
    headers = [*record.headers, ("redriven-from", b"0:1")]
    letter = letter_of(msgspec.structs.replace(record, headers=headers), "bad_message", "no frame")
    described = MESSAGES["DeadLetter"]["headers"]
    assert set(described["properties"]) == {name for name, _ in letter.headers}
    jsonschema.validate({name: value.decode() for name, value in letter.headers}, described)
