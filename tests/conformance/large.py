"""Jobs whose items lie in chunks: they are written in several blocks, and are there once. Bound with the suite."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from services.ledger.reports import DeliveryResult
from services.runtime.errors import BlobMissing
from services.runtime.item_chunks import chunk_key, packed_lines
from services.runtime.item_manifest import Manifest, StoredChunk
from services.writers.chunked import Chunked
from services.writers.warehouses.kinds import KINDS
from services.writers.warehouses.table import Table
from services.writers.warehouses.warehouse import Warehouse
from services.writers.writer import DestinationDown
from tests.conformance.place import Opens, Place, block, job, key, odd_delivery, told_by

ROWS = (1000, 1000, 500)  # of each chunk
KIND = replace(KINDS["customer_postgres"], max_rows=800)  # no block ends where a chunk does


class Stored:
    """Chunks in memory."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}

    async def first(self, key: str, length: int) -> bytes:
        """Return the beginning of one."""
        if key not in self.blobs:
            raise BlobMissing(key)
        return self.blobs[key][:length]


def item(number: int) -> dict[str, object]:
    """Return an item as a spider yields it."""
    return {"title": f"Lamp {number}", "stock": number} | ({"sold": True} if number > 2400 else {})


def chunked(generation: int = 1, rows: Sequence[int] = ROWS, name: str = "spider") -> Chunked:
    """Return the delivery of a job with so many items in each chunk."""
    stored, chunks, at = Stored(), [], 0
    for number, count in enumerate(rows):
        lines = [json.dumps(item(each)).encode() for each in range(at, at + count)]
        data, at = packed_lines(lines), at + count
        place = chunk_key("acme", name, 1, 1, number)
        stored.blobs[place] = data + b"statistics"
        chunks.append(StoredChunk(place, count, len(data), sum(map(len, lines))))
    return Chunked(changed(odd_delivery(name), generation=generation), Manifest(tuple(chunks)), stored)


class LargeJobs:
    """What the writer relies on, whatever the warehouse."""

    async def test_items_of_three_chunks_are_there_once_however_often_and_in_whatever_blocks_they_come(
        self, place: Place, opens: Opens
    ) -> None:
        """By three instances; each item is what its line says."""
        for max_rows in (800, 10_000, 1300):
            table = Table(replace(KIND, max_rows=max_rows), opens(), "db.items")
            assert await _told(table, chunked()) == ("", 2500, "db.items")
        rows = sorted(await place.rows(), key=lambda row: row["_item"])
        assert [(row["_job_id"], row["_item"], row["_generation"]) for row in rows] == [
            ("spider", number, 1) for number in range(2500)
        ]
        assert [row["_data"] for row in rows] == [item(number) for number in range(2500)]
        assert [(row["title"], row["stock"]) for row in rows[999:1001]] == [("Lamp 999", 999), ("Lamp 1000", 1000)]
        assert [row["sold"] for row in rows[2400:2402]] == [None, True]

    async def test_a_newer_generation_takes_the_place_of_every_block_of_an_older_one(
        self, place: Place, opens: Opens
    ) -> None:
        """With fewer items, then with none; what comes late of the older one stays out."""
        other = [("other", 0, 1)]
        table = opens()
        await table.columns()
        await table.write(block(job("other"), columns=()))
        for generation, rows in ((1, (900, 900)), (2, (900,)), (3, ())):
            assert await _told(Table(KIND, opens()), chunked(generation, rows)) == ("", sum(rows), "")
            assert await place.held() == [*other, *(("spider", number, generation) for number in range(sum(rows)))]
            assert (await _told(Table(KIND, opens()), chunked(1, (900, 900))))[0] == ""
        assert await place.held() == other

    async def test_a_block_of_a_job_leaves_the_other_blocks_of_its_generation(
        self, place: Place, table: Warehouse
    ) -> None:
        """Also the first one, which comes again behind the last; of an older generation it leaves nothing."""
        whole = job("a", 2, 5)
        first, last = changed(whole, rows=whole.rows[:3]), changed(whole, rows=whole.rows[3:])
        await table.write(block(job("a", 1, 9), job("b")))
        for each in (last, first, last, first):
            assert await table.write(block(each)) == {}
        assert await place.held() == [*(("a", number, 2) for number in range(5)), ("b", 0, 1)]
        await table.erase([key("a")])
        assert await table.write(block(first)) == {}
        assert await place.held() == [("b", 0, 1)]

    async def test_a_job_of_which_an_answer_was_lost_in_the_middle_is_written_again_from_its_beginning(
        self, place: Place, opens: Opens
    ) -> None:
        """Nothing was told of it before."""
        told: dict[int, DeliveryResult] = {}

        async def write() -> None:
            async for some in Table(KIND, opens()).write([chunked()]):
                told.update(some)
                place.lose_answer()

        with pytest.raises(DestinationDown):
            await write()
        assert not told
        assert await _told(Table(KIND, opens()), chunked()) == ("", 2500, "")
        assert await place.held() == [("spider", number, 1) for number in range(2500)]


async def _told(table: Table, given: Chunked) -> tuple[str, int, str]:
    [result] = await told_by(table, [given])
    return result.error_type, result.rows, result.place
