"""Old and new code beside each other: each reads what the other writes."""

import io
import json
from typing import Any

import fastavro
import msgspec
import pytest

from schemas.avro_of import record_schema
from schemas.check import compatibility_problems
from schemas.client.checkpoint import Checkpoint
from schemas.client.judging import Counts, Judge
from schemas.codec import FRAME, Decoder
from schemas.events import EVENT_TYPES, JobSubmitted
from schemas.examples import example
from schemas.record import Record
from schemas.recorded import Recorded
from schemas.strangers import SchemaLost, claim_of
from schemas.values import Vocabulary
from services.decider.outgoing import event_headers
from tests.versions import (
    LATER_JOB_SUBMITTED,
    JobPraised,
    Schemas,
    Writer,
    later_version,
    released_schemas,
    todays_schemas,
)
from tests.versions import Vocabulary as LaterVocabulary

VERSIONS = ["0.1.0"]
with later_version():
    LATER = todays_schemas()
LATER_IDS = {name: number for number, name in enumerate(sorted(LATER), 100)}


def by_id(schemas: Schemas, ids: dict[str, int]) -> Any:
    return {number: schemas[name] for name, number in ids.items() if name in schemas}.__getitem__


def record_of(recorded: Recorded, value: bytes) -> Record:
    header = recorded.header
    return Record("t.events", header.partition, 0, recorded.event.org_id, value, event_headers(recorded, value), 0)


def later(event: Any, position: int = 1) -> Record:
    """Return an event as a later version writes it."""
    header = example("JobSubmitted").header
    header = msgspec.structs.replace(header, event_type=type(event).__name__, partition=0, position=position)
    recorded = Recorded(header, event)
    return record_of(recorded, Writer(LATER, LATER_IDS).encode(recorded))


SUBMITTED = later(LATER_JOB_SUBMITTED(org_id="acme", job_id="j", domain="d.example", vocabulary=LaterVocabulary.PAUSED))
PRAISED = later(JobPraised(org_id="acme", job_id="j", stars=5), 2)


def test_todays_code_ignores_a_later_field_and_reads_a_later_symbol_as_unknown() -> None:
    recorded = Decoder(by_id(LATER, LATER_IDS)).decode(SUBMITTED.value)
    assert recorded
    assert type(recorded.event) is JobSubmitted
    assert (recorded.event.vocabulary, recorded.event.domain) == (Vocabulary.UNKNOWN, "d.example")


def test_todays_client_skips_a_later_type_by_its_header_and_counts_it() -> None:
    counts = Counts()
    judge = Judge(Checkpoint(0), Decoder(by_id(LATER, LATER_IDS)), EVENT_TYPES, counts)
    received = [judge.judge(SUBMITTED), judge.judge(PRAISED)]
    assert [type(each.event) if each else None for each in received] == [JobSubmitted, None]
    assert (counts.unknown, str(judge.checkpoint)) == (1, "0:2@1/1")


def test_later_code_reads_todays_events_with_the_defaults_of_its_fields() -> None:
    ids = {name: number for number, name in enumerate(EVENT_TYPES)}
    written = example("JobSubmitted")
    value = Writer(todays_schemas(), ids).encode(written)
    schemas = by_id(todays_schemas(), ids)
    with later_version():
        recorded = Decoder(schemas).decode(value)
    assert recorded
    event: Any = recorded.event
    assert type(event) is LATER_JOB_SUBMITTED
    assert (event.colour, event.weights, event.vocabulary) == ("grey", (1.5,), LaterVocabulary.WORKFLOW)
    assert recorded.header == written.header


def test_later_code_reads_what_it_writes() -> None:
    with later_version():
        decoder = Decoder(by_id(LATER, LATER_IDS))
        praised, submitted = decoder.decode(PRAISED.value), decoder.decode(SUBMITTED.value)
    assert praised
    event: Any = praised.event
    assert event == JobPraised(org_id="acme", job_id="j", stars=5)
    assert submitted
    assert getattr(submitted.event, "vocabulary", None) is LaterVocabulary.PAUSED


@pytest.mark.parametrize("version", VERSIONS)
def test_todays_code_reads_every_event_of_a_released_version(version: str) -> None:
    schemas = released_schemas(version)
    ids = {name: number for number, name in enumerate(sorted(schemas))}
    decoder, writer = Decoder(by_id(schemas, ids)), Writer(schemas, ids)
    for name, schema in schemas.items():
        written = example(name)
        recorded = decoder.decode(writer.encode(written))
        assert recorded, name
        own = {field["name"] for field in schema["fields"]}
        cls = EVENT_TYPES[name]
        for field, default in zip(
            cls.__struct_fields__[-len(cls.__struct_defaults__) :], cls.__struct_defaults__, strict=True
        ):
            wanted = getattr(written.event, field) if field in own else default
            if field != "destinations":  # their fields too were fewer
                assert getattr(recorded.event, field) == wanted, f"{name}.{field}"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_reader_of_a_released_version_reads_what_today_writes_of_it(version: str) -> None:
    ids = {name: number for number, name in enumerate(EVENT_TYPES)}
    writer, today = Writer(todays_schemas(), ids), todays_schemas()
    for name, schema in released_schemas(version).items():
        written = example(name)
        body = writer.encode(written)[FRAME.size :]
        record: Any = fastavro.schemaless_reader(
            io.BytesIO(body), fastavro.parse_schema(today[name]), fastavro.parse_schema(schema)
        )
        assert set(record) == {field["name"] for field in schema["fields"]}
        assert (record["event_type"], record["position"]) == (name, written.header.position)


def test_a_log_that_was_written_with_another_registry_is_waited_with_and_named_as_that() -> None:
    """Its ids mean other types there, some of which have the same shape."""
    names = sorted(EVENT_TYPES)
    ids = dict(zip(names, range(len(names)), strict=True))
    shifted = {number: record_schema(names[(number + 1) % len(names)]) for number in ids.values()}
    decoder = Decoder(shifted.__getitem__)
    for name in names:
        recorded = example(name)
        record = record_of(recorded, Writer(todays_schemas(), ids).encode(recorded))
        for read in (decoder.claim, decoder.whole):
            with pytest.raises(SchemaLost, match=f"a {name}, but the registry has the schema of"):
                claim_of(record, read)


def broken_schemas() -> dict[str, dict[str, Any]]:
    """Return schemas of JobSubmitted that must not be released, by what is wrong."""

    def changed(name: str, **more: Any) -> dict[str, Any]:
        schema = record_schema("JobSubmitted")
        fields = [field | more if field["name"] == name else field for field in schema["fields"]]
        return schema | {"fields": fields}

    schema = record_schema("JobSubmitted")
    without_default = [*schema["fields"], {"name": "colour", "type": "string", "doc": "no default"}]
    vocabulary = next(field["type"] for field in schema["fields"] if field["name"] == "vocabulary")
    return {
        "another type": changed("domain", type="long", default=0),
        "a new field without a default": schema | {"fields": without_default},
        "an enum without its default": changed(
            "vocabulary", type={k: v for k, v in vocabulary.items() if k != "default"} | {"symbols": ["unknown", "w"]}
        ),
        "a field of the header gone": schema | {"fields": [f for f in schema["fields"] if f["name"] != "position"]},
    }


@pytest.mark.parametrize("wrong", sorted(broken_schemas()))
def test_a_schema_that_breaks_compatibility_is_refused_and_told_what_to_do(wrong: str) -> None:
    text = json.dumps(released_schemas("0.1.0")["JobSubmitted"])
    found = list(compatibility_problems(broken_schemas()[wrong], "0.1.0", text))
    assert found
    assert all("JobSubmitted is not compatible with the one released in 0.1.0" in each for each in found)
    assert all("add a field with a default" in each for each in found)
    assert list(compatibility_problems(LATER["JobSubmitted"], "0.1.0", text)) == [], "what may be added is not refused"
