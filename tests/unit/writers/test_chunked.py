"""Deliveries whose items lie in chunks: read piece by piece, refused or tried again as a whole, summed up elsewhere."""

import json
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest
from msgspec.structs import replace as changed

from services.ledger.reports import DeliveryResult
from services.runtime.errors import BlobFault
from services.runtime.item_chunks import chunk_key, packed_lines
from services.runtime.item_manifest import Manifest, StoredChunk, manifest_key, packed_manifest
from services.runtime.item_reading import WHOLE_BYTES
from services.writers.chunked import Chunked
from services.writers.reading import ItemReading, Reading
from services.writers.rows import Row
from services.writers.summaries import Summaries
from services.writers.warehouses.kinds import KINDS
from services.writers.warehouses.table import Table
from services.writers.webhook.payload import Where, body_of
from tests.conformance.place import told_by
from tests.unit.workers.fakes import MemoryBlobs
from tests.unit.writers.fakes import delivery
from tests.unit.writers.test_shipping import MemoryWarehouse

KIND = replace(KINDS["customer_postgres"], max_rows=4)


class Bodies(MemoryBlobs):
    """A blob store from which nothing is erased."""

    async def delete_job(self, org_id: str, job_id: str, spared: str = "") -> None:
        """Keep everything."""


def stored(*chunks: Sequence[bytes]) -> tuple[Bodies, str]:
    """Return a store that has such chunks, and the key of their manifest."""
    blobs, listed = Bodies(), []
    for number, lines in enumerate(chunks):
        data, key = packed_lines(lines), chunk_key("org-1", "job-1", 1, 1, number)
        blobs.blobs[key] = data + b"statistics"
        listed.append(StoredChunk(key, len(lines), len(data), sum(map(len, lines))))
    manifest = packed_manifest(Manifest(tuple(listed)))
    key = manifest_key("org-1", "job-1", 1, manifest)
    blobs.blobs[key] = manifest
    return blobs, key


def numbered(first: int, behind: int) -> list[bytes]:
    """Return items."""
    return [json.dumps({"n": number}).encode() for number in range(first, behind)]


async def read(blobs: Bodies, key: str) -> Row | Chunked | DeliveryResult:
    """Return what a writer of items reads of a spider job."""
    [found] = await ItemReading(blobs).rows_of([delivery(extraction_ref=key, result_ref="")])
    return found


async def poured(blobs: Bodies, key: str) -> tuple[DeliveryResult, MemoryWarehouse]:
    """Return what came of its delivery, and where it went to."""
    found = await read(blobs, key)
    assert isinstance(found, Chunked)
    warehouse = MemoryWarehouse()
    [result] = await told_by(Table(KIND, warehouse, "db.items"), [found])
    return result, warehouse


async def test_items_go_out_in_blocks_of_their_own_and_their_ordinals_go_on() -> None:
    result, warehouse = await poured(*stored(numbered(0, 3), numbered(3, 9), numbered(9, 10)))
    assert (result.error_type, result.rows, result.place) == ("", 10, "db.items")
    rows = [[row for job in block.jobs for row in job.rows] for block in warehouse.blocks]
    assert [[row[2] for row in each] for each in rows] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [row[9] for each in rows for row in each] == [f'{{"n": {number}}}' for number in range(10)]


async def test_pieces_are_bounded_by_bytes_and_an_item_that_is_larger_is_alone() -> None:
    blobs, key = stored([b'{"a": 1}', b'{"a": "' + b"x" * 90 + b'"}', b'{"a": 2}', b'{"a": 3}'])
    found = await read(blobs, key)
    assert isinstance(found, Chunked)
    assert [len(piece) async for piece in found.pieces(100, 20)] == [1, 1, 2]


async def test_a_job_without_items_takes_its_older_rows_away_and_has_none() -> None:
    for blobs, key in (stored(), (Bodies(), "")):
        result, warehouse = await poured(blobs, key)
        assert (result.error_type, result.rows) == ("", 0)
        assert [[job.rows for job in block.jobs] for block in warehouse.blocks] == [[[]]]


async def test_what_no_store_takes_is_replaced_in_items_as_in_documents() -> None:
    result, warehouse = await poured(*stored([b'{"a": "nul \\u0000 half \\ud83d"}']))
    assert not result.error_type
    assert json.loads(str(warehouse.blocks[0].jobs[0].rows[0][9])) == {"a": "nul \ufffd half \ufffd"}


@pytest.mark.parametrize(
    ("broken", "error_type", "retryable"),
    [
        ("away", "store_unavailable", True),
        ("missing", "extraction_missing", False),
        ("no chunk", "extraction_unreadable", False),
        ("too few", "extraction_unreadable", False),
        ("no object", "extraction_unreadable", False),
    ],
)
async def test_a_chunk_that_cannot_be_read_is_told_of_the_whole_delivery(
    broken: str, error_type: str, *, retryable: bool
) -> None:
    blobs, key = stored(numbered(0, 5), [b"[1]"] if broken == "no object" else numbered(5, 8))
    found = await read(blobs, key)
    assert isinstance(found, Chunked)
    second = found.manifest.chunks[1]
    if broken == "away":
        blobs.broken = BlobFault("it does not answer")
    elif broken == "missing":
        del blobs.blobs[second.key]
    elif broken == "no chunk":
        blobs.blobs[second.key] = b"\0" * second.rows_bytes
    elif broken == "too few":
        chunks = (found.manifest.chunks[0], changed(second, rows=4))
        found = replace(found, manifest=Manifest(chunks))
    [result] = await told_by(Table(KIND, MemoryWarehouse(), "db.items"), [found])
    assert (result.error_type, result.retryable, result.rows) == (error_type, retryable, 0)


async def test_a_list_of_chunks_that_is_none_is_refused() -> None:
    blobs, key = stored()
    blobs.blobs[key] = b'{"normalized": {}}'
    found = await read(blobs, key)
    assert isinstance(found, DeliveryResult)
    assert (found.error_type, found.retryable) == ("extraction_unreadable", False)


async def test_few_items_are_the_document_of_a_store_with_one_row_a_job() -> None:
    blobs, key = stored(numbered(0, 2), numbered(2, 3))
    [row] = await Reading(Summaries(blobs)).rows_of([delivery(extraction_ref=key, result_ref="")])
    assert isinstance(row, Row)
    assert json.loads(row.normalized) == {"items": [{"n": 0}, {"n": 1}, {"n": 2}]}


async def test_of_many_items_its_row_says_how_many_there_are() -> None:
    blobs, key = stored(numbered(0, 9000), numbered(9000, 18000))
    [row] = await Reading(Summaries(blobs)).rows_of([delivery(extraction_ref=key, result_ref="")])
    assert isinstance(row, Row)
    said = json.loads(row.normalized)
    assert said["items_total"] == 18000
    assert said["items_bytes"] > WHOLE_BYTES


async def test_a_webhook_says_where_the_items_are() -> None:
    blobs, key = stored(numbered(0, 2))
    given = delivery(extraction_ref=key, result_ref="", items=2)
    where = Where("https://api.example", "/crawls")
    data = msgspec.json.decode(body_of(given, await Summaries(blobs).get(key), where))["data"]
    assert data["extraction"] == {"items": [{"n": 0}, {"n": 1}]}
    assert data["links"] == {
        "job": "https://api.example/api/v1/jobs/job-1",
        "result": None,
        "extraction": "https://api.example/crawls/jobs/job-1/items/download",
    }
