"""Writers and readers of other versions: what was released, and a later one with more fields, symbols and types."""

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Any

import fastavro
import msgspec
import pytest

from schemas.avro_of import record_schema
from schemas.check import released
from schemas.codec import FRAME, parsed
from schemas.event import Event
from schemas.events import EVENT_TYPES, JobSubmitted
from schemas.reading import readers_of
from schemas.recorded import Recorded
from schemas.values import doc
from schemas.writing import writer_of

Schemas = dict[str, dict[str, Any]]


class Vocabulary(StrEnum):
    """The vocabularies of a later version."""

    UNKNOWN = "unknown"
    WORKFLOW = "workflow"
    MODULE = "module"
    SPIDER = "spider"
    PAUSED = "paused"


class JobPraised(Event, frozen=True, kw_only=True, gc=False):
    """An event type of a later version."""

    stars: Annotated[int, doc("how many")] = 0


LATER_JOB_SUBMITTED: Any = msgspec.defstruct(
    "JobSubmitted",
    [
        ("vocabulary", Annotated[Vocabulary, doc("vocabulary of the job")], Vocabulary.WORKFLOW),
        ("colour", Annotated[str, doc("a field of a later version")], "grey"),
        ("weights", Annotated[tuple[float, ...], doc("a list of a later version")], (1.5,)),
    ],
    bases=(JobSubmitted,),
    frozen=True,
    kw_only=True,
    namespace={"__doc__": JobSubmitted.__doc__},
)


class Writer:
    """Encodes events by the schemas of some version: what that did not know is left out."""

    def __init__(self, schemas: Schemas, ids: Mapping[str, int]) -> None:
        self._schemas, self._ids = schemas, ids

    def encode(self, recorded: Recorded) -> bytes:
        """Return the bytes of an event; KeyError where the version had no such type."""
        name = recorded.header.event_type
        schema = self._schemas[name]
        record = msgspec.to_builtins(recorded.header, builtin_types=(bytes,))
        record |= msgspec.to_builtins(recorded.event, builtin_types=(bytes,))
        out = io.BytesIO()
        out.write(FRAME.pack(0, self._ids[name]))
        known = {field["name"] for field in schema["fields"]}
        fastavro.schemaless_writer(out, fastavro.parse_schema(schema), {k: v for k, v in record.items() if k in known})
        return out.getvalue()


def released_schemas(version: str) -> Schemas:
    """Return the schemas of a released version by event type."""
    return {name: json.loads(text) for of, name, text in released() if of == version}


def todays_schemas() -> Schemas:
    """Return the schemas of the events of this process."""
    return {name: record_schema(name) for name in EVENT_TYPES}


@contextmanager
def later_version() -> Iterator[None]:
    """Be the later version: its types are those of schemas.events, for what is made meanwhile to encode or decode."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(EVENT_TYPES, "JobSubmitted", LATER_JOB_SUBMITTED)
        patched.setitem(EVENT_TYPES, "JobPraised", JobPraised)
        patched.setattr("schemas.codec._schema_of", lambda name: parsed(record_schema(name)))
        patched.setattr("schemas.codec.readers_of", readers_of.__wrapped__)  # they are remembered by name
        patched.setattr("schemas.codec.writer_of", writer_of.__wrapped__)
        yield
