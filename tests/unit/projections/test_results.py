"""What verification asks of the rows of a destination, told by a store in memory."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid5

import pytest

from projections.postgres.rows import JobKey
from projections.verification.documents import Document, Documents, document_of, documents_of
from projections.verification.expected import Columns
from projections.verification.results import ROW_IDS, Asked, Results
from services.writers.rows import NAMESPACE
from tests.event_streams import Play, Stream, records_of
from tests.fakes.records import InMemoryRecords
from tests.unit.projections.test_log_check import check, decoder, extracted
from tests.unit.workers.fakes import MemoryBlobs


@dataclass
class Memory:
    """Rows in a list."""

    rows: list[Columns] = field(default_factory=list)
    place: str = "rows"
    kind: str = "postgres"

    def of(self, jobs: Sequence[JobKey]) -> Iterable[Columns]:
        return [row for row in self.rows if (row["org_id"], row["job_id"]) in jobs]

    def every(self) -> Iterable[Asked]:
        return [(row["org_id"], row["job_id"], row["destination_id"], row["generation"]) for row in self.rows]


def row_of(job: Play, **values: object) -> Columns:
    row: Columns = {"org_id": job.org_id, "job_id": job.job_id, "destination_id": "internal", "generation": 1}
    row |= {"id": uuid5(ROW_IDS, f"{job.org_id}/{job.job_id}"), "domain": "shop.example"}
    row |= {"raw_blob_key": f"results/{job.job_id}", "latency_ms": 7, "schema_id": "", "data_type": ""}
    row |= {"quality_completeness": 0.0, "quality_validation": 0.0, "quality_composite": 0.0}
    return row | {"normalized": {}, "replaced_characters": 0} | values


def all_there(keys: Iterable[str]) -> Mapping[str, Document]:
    return dict.fromkeys(keys, Document({}, 0))


def faults(
    stream: Stream, *rows: Columns, upto: int | None = None, documents: Documents = all_there
) -> list[tuple[str, str]]:
    results = Results(Memory(list(rows)), documents)
    found = list(results.check(check(stream, position=upto)))
    found += results.unasked(lambda _: InMemoryRecords(records_of(stream)), decoder(), range(1))
    return [(fault.field, fault.found) for fault in found]


def test_a_delivery_may_have_its_row_before_its_ack_and_has_to_have_it_behind_it() -> None:
    stream = Stream().open()
    job = extracted(stream)
    assert faults(stream) == []
    assert faults(stream, row_of(job)) == []
    stream.ack(job, "internal")
    assert faults(stream, row_of(job)) == []
    assert faults(stream) == [("row", "none")]


def test_a_row_ahead_of_the_checkpoint_is_no_fault_but_one_that_nobody_asked_for_is() -> None:
    stream = Stream().open()
    upto = len(stream.events)
    job = extracted(stream)
    assert faults(stream, row_of(job), upto=upto) == []
    for wrong in ({"generation": 2}, {"destination_id": "lake"}, {"job_id": "copy"}):
        assert ("row", f"generation {wrong.get('generation', 1)}, which no delivery asked for") in faults(
            stream, row_of(job, **wrong), upto=upto
        )


def test_a_row_older_than_its_ack_or_with_other_values_is_named_by_its_column() -> None:
    stream = Stream().open()
    job = extracted(stream)
    stream.ack(job, "internal")
    assert faults(stream, row_of(job, generation=0))[0] == ("generation", "0")
    columns = row_of(job).keys() - {"org_id", "job_id", "destination_id", "generation"}
    for column in columns:
        assert faults(stream, row_of(job, **{column: "!"})) == [(column, "!")]


def test_an_extraction_that_the_blob_store_lost_is_named_unless_its_job_was_deleted_since() -> None:
    stream = Stream().open()
    job = extracted(stream)
    stream.ack(job, "internal")
    upto = len(stream.events)
    assert faults(stream, row_of(job), documents=lambda _: {}) == [("extraction", "none that can be read")]
    stream.delete(job)
    assert faults(stream, row_of(job), upto=upto, documents=lambda _: {}) == []


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"normalized": "\xff"}', b'{"replacedCharacters": "many"}'])
def test_an_extraction_that_cannot_be_read_counts_as_none_and_takes_no_other_with_it(data: bytes) -> None:
    blobs: Any = MemoryBlobs({"bad": data, "good": b"{}"})
    assert documents_of(blobs)(["bad", "good", "gone", ""]).keys() == {"good", ""}


def test_an_extraction_is_compared_as_a_row_can_hold_it() -> None:
    data = b'{"normalized": {"a\\u0000": ["\\u0000b", 1.50]}, "replacedCharacters": 3}'
    document = document_of(data)
    assert document.normalized == {"a\ufffd": ["\ufffdb", 1.5]}
    assert document.replaced_characters == 5
    assert document_of(b"{}") == Document({}, 0)


def test_verification_and_writers_name_rows_alike() -> None:
    assert ROW_IDS == NAMESPACE
