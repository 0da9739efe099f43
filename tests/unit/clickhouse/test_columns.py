"""The table in ClickHouse has a column for every field of every event: ClickHouse drops what it has no column for."""

import re

import pytest

from projections.clickhouse.migrate import TABLES
from schemas.events import EVENT_TYPES, Header

COLUMN = re.compile(r"^    (\w+) [A-Z]", re.MULTILINE)
MICROS = re.compile(r"^    (\w+) DateTime64\(6, 'UTC'\)", re.MULTILINE)


def text() -> str:
    return (TABLES / "001_pre_job_events.sql").read_text()


@pytest.mark.parametrize("event_type", sorted(EVENT_TYPES))
def test_every_field_has_a_column(event_type: str) -> None:
    columns = set(COLUMN.findall(text()))
    assert {*Header.__struct_fields__, *EVENT_TYPES[event_type].__struct_fields__} <= columns


def test_every_column_is_a_field_and_every_time_is_a_time() -> None:
    fields = {name for event in EVENT_TYPES.values() for name in event.__struct_fields__} | {*Header.__struct_fields__}
    assert set(COLUMN.findall(text())) == fields
    assert set(MICROS.findall(text())) == {name for name in fields if name.endswith("_at")}
