"""The table in ClickHouse has a column for every field of every event: ClickHouse drops what it has no column for."""

import re
from typing import Any

import pytest

from projections.clickhouse.migrate import TABLES, WITHOUT_COLUMN
from schemas.avro_of import record_schema
from schemas.events import EVENT_TYPES
from schemas.recorded import Header

COLUMN = re.compile(r"^    (\w+) [A-Z]", re.MULTILINE)
ALTERED = re.compile(r"^ALTER TABLE job_events\s[^;]*;", re.MULTILINE)  # on one line, or a line for each column
ADDED = re.compile(r"ADD COLUMN IF NOT EXISTS (\w+) ([A-Z](?:\([^)]*\)|[^,;])*)")
DECLARED = re.compile(r"^    (\w+) ((?:\([^()]*(?:\([^()]*\)[^()]*)*\)|[^,\n(])+)", re.MULTILINE)
MICROS = re.compile(r"^    (\w+) DateTime64\(6, 'UTC'\)", re.MULTILINE)

# By the type of a field in Avro, what its column may be. What is neither a dictionary nor a random id has a codec.
TYPES = {
    "string": ("LowCardinality(String)", "String CODEC("),
    "enum": ("LowCardinality(String)",),
    "boolean": ("Bool CODEC(",),
    "double": ("Float64 CODEC(",),
    "bytes": ("String CODEC(",),
    "long": ("Int64 CODEC(", "Int32 CODEC("),
    "time": ("DateTime64(6, 'UTC') CODEC(",),
    "fixed 16": ("FixedString(16)",),
    "fixed 32": ("FixedString(32)",),
    "array": ("Array(String) CODEC(", "Array(FixedString(16)) CODEC(", "Array(Int64) CODEC("),
}


def text() -> str:
    """Every statement about job_events: its table, and the columns added to it since."""
    made = (TABLES / "001_pre_job_events.sql").read_text()
    added = [
        f"    {column[1]} {column[2]}\n"
        for path in sorted(TABLES.glob("*.sql"))
        for statement in ALTERED.findall(path.read_text())
        for column in ADDED.finditer(statement)
    ]
    return made + "".join(added)


@pytest.mark.parametrize("event_type", sorted(EVENT_TYPES))
def test_every_field_has_a_column(event_type: str) -> None:
    columns = set(COLUMN.findall(text()))
    assert {*Header.__struct_fields__, *EVENT_TYPES[event_type].__struct_fields__} - WITHOUT_COLUMN <= columns


def test_every_column_is_a_field_and_every_time_is_a_time() -> None:
    fields = {name for event in EVENT_TYPES.values() for name in event.__struct_fields__} | {*Header.__struct_fields__}
    assert set(COLUMN.findall(text())) == fields - WITHOUT_COLUMN
    assert set(MICROS.findall(text())) == {name for name in fields if name.endswith("_at")}


def test_every_column_has_the_type_of_its_field_and_a_codec() -> None:
    declared: dict[str, str] = dict(DECLARED.findall(text()))
    for event_type in EVENT_TYPES:
        for field in record_schema(event_type)["fields"]:
            if (name := field["name"]) in WITHOUT_COLUMN:
                continue
            kind = "time" if name.endswith("_at") else _kind(field["type"])
            assert declared[name].strip().startswith(TYPES[kind]), (event_type, name, declared[name])


def _kind(avro: Any) -> str:
    if isinstance(avro, str):
        return avro
    return f"fixed {avro['size']}" if avro["type"] == "fixed" else str(avro["type"])


def test_exactly_the_fields_that_hold_records_have_no_column() -> None:
    """A record inside an event may gain fields; ClickHouse would then refuse every event written before it did."""
    nested = {
        field["name"]
        for event_type in EVENT_TYPES
        for field in record_schema(event_type)["fields"]
        if isinstance(field["type"], dict) and isinstance(field["type"].get("items"), dict)
        if field["type"]["items"]["type"] == "record"
    }
    assert nested == WITHOUT_COLUMN
