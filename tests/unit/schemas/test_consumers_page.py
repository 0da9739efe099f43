"""What docs/consumers.md names in the languages of others is what events have."""

import json
import re
from pathlib import Path

from schemas.avro_of import record_schema
from schemas.events import EVENT_TYPES
from schemas.examples import example
from services.decider.outgoing import event_headers

PAGE = (Path(__file__).parents[3] / "docs" / "consumers.md").read_text()
TYPE = re.compile(r"jobledger\.([A-Z]\w+)")
COLUMN = re.compile(r"(\w+) (?:Int64|String|LowCardinality\(String\)|DateTime64\(6, 'UTC'\))")


def fields(*names: str) -> set[str]:
    """Return the fields of these types of events."""
    return {field["name"] for name in names for field in record_schema(name)["fields"]}


def test_the_sink_of_kafka_connect_takes_a_type_by_its_header_and_upserts_what_every_event_has_in_its_headers() -> None:
    [text] = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    config: dict[str, str] = json.loads(text)["config"]
    [(header, wanted)] = re.findall(
        r"header\['(\w+)'\]\?\.value == 'jobledger\.(\w+)'", config["transforms.wanted.condition"]
    )
    sent = {name: value.decode() for name, value in event_headers(example(wanted), b"")}
    assert sent[header] == f"jobledger.{wanted}"
    assert set(config["transforms.columns.headers"].split(",")) <= sent.keys()
    assert (config["consumer.override.isolation.level"], config["insert.mode"]) == ("read_committed", "upsert")
    named = {key.split(".")[1] for key in config if key.startswith("transforms.")}
    assert named == set(config["transforms"].split(","))


def test_the_tables_of_another_clickhouse_have_columns_of_fields_only() -> None:
    [text] = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    columns = set(COLUMN.findall(text))
    assert {"partition", "position", "event_type"} < columns <= fields(*EVENT_TYPES)


def test_every_type_that_the_page_names_is_one() -> None:
    named = set(TYPE.findall(PAGE)) - {"WriterFence"}  # which has no schema, being no event
    assert {"JobCompleted", "JobFailed", "JobCancelled"} <= named <= EVENT_TYPES.keys()
