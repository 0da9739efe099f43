"""Scenario 78: a symbol that a later version added to an enum breaks no reader of this one."""

import io
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import fastavro
import psycopg
import pytest
from clickhouse_connect.driver.client import Client

from projections.checkpoints import clickhouse_checkpoints
from projections.migrate import SCHEMA
from projections.postgres.batch import batch_of
from projections.postgres.store import Store
from projections.verification.clickhouse import verify_clickhouse
from projections.verification.faults import Fault
from schemas.avro_of import record_schema
from schemas.check import shape_problems
from schemas.client.checkpoint import Checkpoint as Place
from schemas.client.judging import Counts, Judge
from schemas.codec import Decoder, NotAnEvent
from schemas.events import EVENT_TYPES, JobReleased, JobSubmitted, NodeFinished, ScheduleFired
from schemas.examples import example
from schemas.record import Record
from schemas.recorded import Recorded
from schemas.values import FireKind, FireOutcome, NodeOutcome, ReleaseReason, Vocabulary
from services.decider.outgoing import event_headers
from services.runtime.ledger_log import Checkpoint, Entry, LedgerLog
from services.runtime.registry import Registry
from services.runtime.settings import Settings
from services.runtime.shredding.vault import Vault
from services.runtime.strangers import Stranger
from tests.event_streams import START, STEP, Stream
from tests.fakes.records import InMemoryRecords
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.conftest import clickhouse as clickhouse
from tests.integration.clickhouse.conftest import rows as rows
from tests.integration.clickhouse.projecting import go_on
from tests.versions import Schemas, Writer, todays_schemas

IDS = {name: number for number, name in enumerate(EVENT_TYPES, 1)}
NEW = "paused"


def enums(avro: Any) -> Iterator[dict[str, Any]]:
    """Yield every enum in a schema."""
    match avro:
        case {"type": "enum"}:
            yield avro
        case {"type": "array", "items": items}:
            yield from enums(items)
        case {"fields": fields}:
            for field in fields:
                yield from enums(field["type"])


def later_schemas() -> Schemas:
    """Return schemas in which each enum has one symbol more."""
    schemas = todays_schemas()
    for schema in schemas.values():
        for enum in enums(schema):
            enum["symbols"] = [*enum["symbols"], NEW]
    return schemas


class Later(Writer):
    """Writes the new symbol wherever there is an enum."""

    def encode(self, recorded: Recorded) -> bytes:
        """Return the bytes of an event."""
        schema = self._schemas[recorded.header.event_type]
        by_name = {field["name"] for field in schema["fields"] if next(enums(field["type"]), None)}
        event = recorded.event
        told = {name: _paused(getattr(event, name)) for name in by_name}
        return super().encode(Recorded(recorded.header, type(event)(**{**_fields(event), **told})))


def _fields(struct: Any) -> dict[str, Any]:
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


def _paused(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(type(each)(**{**_fields(each), "on_exhausted": NEW, "after": NEW}) for each in value)
    return NEW


def later_log(ids: dict[str, int] = IDS) -> tuple[Stream, list[Record]]:
    """Return what a later version wrote, and the records of it."""
    writer: Any = Later(later_schemas(), ids)
    stream = Stream(encoder=writer).open().play(number * 37 % 640 for number in range(400))
    fires = len(stream.orgs)
    for number in range(3):
        stream.fire(fires + number, START + STEP, code="busy" if number == 1 else "")
    return stream, [
        Record("t.events", 0, at, recorded.event.org_id, raw, event_headers(recorded, raw), 0)
        for at, (recorded, raw) in enumerate(zip(stream.events, stream.raws, strict=True))
    ]


def read(records: list[Record]) -> list[Entry]:
    """Read the log by the rule of every reader; nothing may be left out."""

    def noted(record: Record, stranger: Stranger) -> None:
        raise AssertionError(f"{record.offset} was left out: {stranger}")

    schemas = later_schemas()
    by_id = {number: schemas[name] for name, number in IDS.items()}
    nowhere = Settings(kafka="", postgres="", registry="", blobs="")
    log = LedgerLog(nowhere, Decoder(by_id.__getitem__), {0: Checkpoint()}, InMemoryRecords(records), noted=noted)
    return log.poll(len(records), 0)


def test_78_a_new_symbol_is_read_as_unknown_and_parks_nothing() -> None:
    stream, records = later_log()
    entries = read(records)
    assert [entry.position for entry in entries] == [each.header.position for each in stream.events]
    seen: Counter[str] = Counter()
    for entry in entries:
        assert entry.recorded
        seen[entry.event_type] += 1
        match entry.recorded.event:
            case JobSubmitted(vocabulary=value):
                assert value is Vocabulary.UNKNOWN
            case NodeFinished(outcome=outcome):
                assert outcome is NodeOutcome.UNKNOWN
            case JobReleased(reason=reason):
                assert reason is ReleaseReason.UNKNOWN
            case ScheduleFired(how=how, outcome=result):
                assert (how, result) == (FireKind.UNKNOWN, FireOutcome.UNKNOWN)
            case _:
                pass
    assert all(seen[name] for name in ("JobSubmitted", "NodeFinished", "JobReleased", "ScheduleFired")), seen


def test_78_the_read_model_shows_unknown_and_folds_on(settings: Settings) -> None:
    """Constraints that list what is known would stop the projection."""
    stream, records = later_log()
    entries = read(records)
    with closing(Store(settings.postgres, SCHEMA, Vault(settings.credentials_key))) as store:
        assert store.lock()
        for at in range(0, len(entries), 50):
            store.write(batch_of(store.checkpoints(range(1)), entries[at : at + 50]))
        assert store.checkpoints(range(1))[0].position == stream.events[-1].header.position
    with psycopg.connect(settings.postgres) as connection:
        connection.execute(f"SET search_path TO {SCHEMA}")
        assert connection.execute("SELECT DISTINCT vocabulary FROM jobs").fetchall() == [("unknown",)]
        fires = connection.execute("SELECT how, outcome, code FROM schedule_fires ORDER BY seq").fetchall()
        assert connection.execute("SELECT DISTINCT outcome FROM job_trace").fetchall() == [("unknown",)]
    assert fires == [("unknown", "unknown", None), ("unknown", "unknown", "busy"), ("unknown", "unknown", None)]


def test_78_clickhouse_shows_the_new_symbol_and_verification_takes_it_for_unknown(
    settings: Settings, clickhouse: Client, rows: Rows
) -> None:
    registry, schemas = Registry(settings.registry), later_schemas()
    ids = {name: registry.register(f"later.{name}", schema) for name, schema in schemas.items()}
    stream, records = later_log(ids)
    go_on(settings, [stream])
    assert rows("SELECT DISTINCT vocabulary FROM job_events WHERE event_type = 'JobSubmitted'") == [(NEW,)]
    by_id = {number: schemas[name] for name, number in ids.items()}

    def faults() -> list[Fault]:
        folded, log = clickhouse_checkpoints(settings.postgres), {0: records}
        open_records = lambda partition: InMemoryRecords(log.get(partition, []))  # noqa: E731
        return verify_clickhouse(settings, folded, open_records, Decoder(by_id.__getitem__))[1]

    assert faults() == []
    change = "ALTER TABLE job_events UPDATE outcome = 'failed' WHERE event_type = 'NodeFinished'"
    clickhouse.command(change, settings={"mutations_sync": 1})
    assert {(each.place, each.field, each.expected, each.found) for each in faults()} == {
        ("job_events", "outcome", "unknown", "failed")
    }


def test_78_a_consumer_gets_it_as_unknown_too() -> None:
    _, records = later_log()
    schemas, counts = later_schemas(), Counts()
    by_id = {number: schemas[name] for name, number in IDS.items()}
    judge = Judge(Place(0), Decoder(by_id.__getitem__), {"JobSubmitted"}, counts)
    received = [found for record in records if (found := judge.judge(record))]
    assert received
    assert {getattr(each.event, "vocabulary", None) for each in received} == {Vocabulary.UNKNOWN}
    assert counts.strangers == 0


@pytest.mark.parametrize("around", [lambda enum: ["null", enum], lambda enum: {"type": "array", "items": enum}])
def test_78_our_own_check_refuses_an_enum_without_a_default_wherever_it_is(around: Any) -> None:
    schema = record_schema("JobSubmitted")
    vocabulary = next(field for field in schema["fields"] if field["name"] == "vocabulary")
    enum = dict(vocabulary["type"])
    vocabulary["type"] = around(enum)
    assert list(shape_problems(schema)) == []
    del enum["default"]
    vocabulary["type"] = around(enum)
    assert ["no default symbol" in problem for problem in shape_problems(schema)] == [True]


def test_78_inside_a_nullable_union_too_the_new_symbol_is_the_default() -> None:
    enum = {"type": "enum", "name": "V", "symbols": ["unknown", "a"], "default": "unknown"}
    reader: Any = {"type": "record", "name": "R", "fields": [{"name": "v", "type": ["null", enum], "default": None}]}
    newer = enum | {"symbols": ["unknown", "a", NEW]}
    writer: Any = {"type": "record", "name": "R", "fields": [{"name": "v", "type": ["null", newer], "default": None}]}
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(writer), {"v": NEW})
    found: Any = fastavro.schemaless_reader(io.BytesIO(out.getvalue()), writer, reader)
    assert found == {"v": "unknown"}


def test_78_without_the_default_it_would_be_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the check is there for."""
    name = "JobSubmitted"
    schemas = later_schemas()
    data = Later(schemas, IDS).encode(example(name))
    decoder = Decoder(lambda _: schemas[name])
    today = record_schema(name)
    for enum in enums(today):
        del enum["default"]
    monkeypatch.setattr("schemas.codec._schema_of", lambda _name: today)
    with pytest.raises(NotAnEvent):
        decoder.decode(data)
