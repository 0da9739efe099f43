"""AsyncAPI of the events on Kafka and of the streams."""

import json
import re
from typing import Any

import fastavro
import msgspec

from api import asyncapi
from schemas.events import EVENT_TYPES
from schemas.generate import AVRO_DIRECTORY
from services.cli.docs_pages import ASYNCAPI_PAGE
from services.decider.outgoing import event_headers
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
    assert set(MESSAGES["OrgRegistered"]["headers"]["properties"]) == {name for name, _ in event_headers(registered)}


def test_the_shapes_of_a_stream_are_described_by_the_event_that_they_come_as() -> None:
    told = DOCUMENT["channels"]["stream"]["messages"]
    assert {MESSAGES[name]["name"] for name in told} == set(asyncapi.SHAPES)
    for name, shape in asyncapi.SHAPES.items():
        schema = DOCUMENT["components"]["schemas"][shape.__name__]
        assert name in schema["properties"]["event"]["enum"]
