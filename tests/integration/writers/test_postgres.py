"""The writer of the internal store against a real Postgres."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace
from psycopg.rows import dict_row

from services.ledger.tasks import Delivery
from services.runtime.blob import BlobStore
from services.runtime.errors import BlobFault
from services.runtime.settings import Settings
from services.writers.postgres.writer import PLACE, PostgresWriter
from services.writers.writer import DestinationDown, written
from tests.eventually import eventually
from tests.unit.workers.fakes import MemoryBlobs
from tests.unit.writers.fakes import delivery


class Store:
    """A writer, its extractions, and a look at what it wrote."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.blobs = MemoryBlobs()
        self.writer = PostgresWriter(dsn, self.blobs)

    def add(self, of: Delivery, normalized: Any) -> Delivery:
        """Put a delivery's extraction into the blob store."""
        self.blobs.blobs[of.extraction_ref] = json.dumps({"normalized": normalized}).encode()
        return of

    def rows(self) -> dict[str, dict[str, Any]]:
        """Return the rows by job id."""
        with psycopg.connect(self.dsn, row_factory=dict_row) as connection:
            rows = connection.execute("SELECT * FROM extraction.extraction_results").fetchall()
        return {row["job_id"]: row for row in rows}


@pytest.fixture
async def store(settings: Settings) -> AsyncIterator[Store]:
    """A store in a fresh database."""
    store = Store(settings.postgres)
    yield store
    await store.writer.close()


async def test_a_delivery_becomes_a_row(store: Store) -> None:
    one = store.add(delivery(1), {"name": "Lamp", "price": 12.5})
    assert await store.writer.write([one]) == [written(one, place=PLACE)]
    row = store.rows()["job-1"]
    assert row["normalized"] == {"name": "Lamp", "price": 12.5}
    assert (row["org_id"], row["generation"], row["raw_blob_key"]) == ("org-1", 1, "org-1/job-1/1/page-1")
    assert (row["quality_completeness"], row["quality_validation"], row["quality_composite"]) == (1.0, 0.5, 0.8)


async def test_writing_twice_leaves_one_row_with_its_id_and_creation(store: Store) -> None:
    one = store.add(delivery(1), {"name": "Lamp"})
    await store.writer.write([one, one])
    first = store.rows()["job-1"]
    await store.writer.write([one])
    second = store.rows()["job-1"]
    assert (first["id"], first["created_at"]) == (second["id"], second["created_at"])
    assert second["delivered_at"] >= first["delivered_at"]


async def test_a_newer_generation_replaces_an_older_one_and_never_the_other_way(store: Store) -> None:
    old = store.add(delivery(1, extraction_ref="e1"), {"name": "old"})
    new = store.add(delivery(1, generation=2, extraction_ref="e2"), {"name": "new"})
    assert [each.error_type for each in await store.writer.write([new, old])] == ["", ""]
    assert store.rows()["job-1"]["normalized"] == {"name": "new"}
    assert [each.error_type for each in await store.writer.write([old])] == [""]
    assert store.rows()["job-1"]["normalized"] == {"name": "new"}


async def test_a_row_that_postgres_refuses_is_refused_alone(store: Store) -> None:
    batch = [store.add(delivery(number), {"number": number}) for number in range(9)]
    store.blobs.blobs[batch[3].extraction_ref] = b'{"normalized": {"a": 1e999999}}'
    store.blobs.blobs[batch[7].extraction_ref] = b'{"normalized": %s1%s}' % (b"[" * 900, b"]" * 900)
    batch[5] = delivery(5, quality_composite=7.0)
    results = await store.writer.write(batch)
    assert [each.error_type for each in results] == ["row_refused" if number in (3, 5) else "" for number in range(9)]
    assert not results[3].retryable
    assert b"message" in results[3].private
    assert sorted(store.rows()) == [f"job-{number}" for number in (0, 1, 2, 4, 6, 7, 8)]


async def test_nul_does_not_stop_a_row(store: Store) -> None:
    one = store.add(delivery(1, domain="shop\0.example"), {"name": "La\0mp"})
    assert await store.writer.write([one]) == [written(one, place=PLACE)]
    row = store.rows()["job-1"]
    assert (row["normalized"], row["replaced_characters"]) == ({"name": "La\ufffdmp"}, 1)


async def test_an_extraction_that_is_missing_or_unreadable_is_refused_alone(store: Store) -> None:
    batch = [store.add(delivery(1), {}), delivery(2), delivery(3)]
    store.blobs.blobs[batch[2].extraction_ref] = b"<html>"
    results = await store.writer.write(batch)
    assert [each.error_type for each in results] == ["", "extraction_missing", "extraction_unreadable"]
    assert list(store.rows()) == ["job-1"]


async def test_a_reference_that_is_no_key_of_a_blob_is_refused_alone(store: Store) -> None:
    store.writer = PostgresWriter(store.dsn, BlobStore("memory:///"))
    results = await store.writer.write([delivery(1, extraction_ref="../../etc/passwd"), delivery(2, extraction_ref="")])
    assert [each.error_type for each in results] == ["extraction_unreadable", ""]


async def test_the_same_rows_in_other_orders_at_once_do_not_block_each_other(store: Store) -> None:
    batch = [store.add(delivery(number), {"number": number}) for number in range(200)]
    others = [PostgresWriter(store.dsn, store.blobs) for _ in range(3)]
    orders = [batch, batch[::-1], batch[100:] + batch[:100]]
    for _ in range(5):
        results = await asyncio.gather(*(other.write(order) for other, order in zip(others, orders, strict=True)))
        assert all(not each.error_type for found in results for each in found)
    assert len(store.rows()) == 200
    for other in others:
        await other.close()


async def test_a_connection_that_was_cut_is_an_outage_and_the_next_write_connects_again(store: Store) -> None:
    one = store.add(delivery(1), {})
    await store.writer.write([one])
    with psycopg.connect(store.dsn, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = 'jobledger-writer'"
        )
    with pytest.raises(DestinationDown):
        await store.writer.write([one])
    assert await store.writer.write([one]) == [written(one, place=PLACE)]


async def test_a_blob_store_that_fails_is_an_outage(store: Store) -> None:
    store.blobs.broken = BlobFault("timed out")
    with pytest.raises(DestinationDown):
        await store.writer.write([delivery(1)])


def erasing(of: Delivery) -> Delivery:
    """Ask to take away what there is of a job."""
    return replace(of, destination_id="erasure", erase=True)


async def test_44_a_deleted_jobs_row_and_bodies_go_and_no_late_write_passes(store: Store) -> None:
    one, other = store.add(delivery(1), {"name": "Lamp"}), store.add(delivery(2), {"name": "Chair"})
    store.blobs.blobs["org-1/job-1/3/page-0"] = b"of a later attempt"
    await store.writer.write([one, other])
    assert await store.writer.write([erasing(one)]) == [written(erasing(one), rows=0)]
    assert set(store.rows()) == {"job-2"}
    assert not [key for key in store.blobs.blobs if key.startswith("org-1/job-1/")]
    late = store.add(replace(one, generation=7), {"name": "Lamp"})
    await store.writer.write([late])
    assert set(store.rows()) == {"job-2"}


async def test_44_erased_before_it_was_ever_written_a_job_stays_away(store: Store) -> None:
    one = store.add(delivery(1), {"name": "Lamp"})
    await store.writer.write([erasing(one)])
    await store.writer.write([one])
    assert store.rows() == {}


async def test_44_an_erasure_beside_the_write_in_one_batch_wins(store: Store) -> None:
    one, other = store.add(delivery(1), {"name": "Lamp"}), store.add(delivery(2), {"name": "Chair"})
    results = await store.writer.write([erasing(one), one, other])
    assert [(each.destination_id, each.rows) for each in results] == [("erasure", 0), ("internal", 1), ("internal", 1)]
    assert set(store.rows()) == {"job-2"}


def waits_for_a_lock(dsn: str) -> bool:
    """Whether a writer waits for another transaction."""
    with psycopg.connect(dsn) as connection:
        waiting = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'jobledger-writer' "
            "AND wait_event_type = 'Lock' AND datname = current_database()"
        ).fetchone()
    return waiting is not None and waiting[0] > 0


async def test_44_a_write_that_is_under_way_while_the_job_is_erased_leaves_no_row(store: Store) -> None:
    one = store.add(delivery(1), {"name": "Lamp"})
    await store.writer.write([one])
    with psycopg.connect(store.dsn) as slow:  # another writer of the row, in the middle of its transaction
        slow.execute("UPDATE extraction.stored_results SET domain = 'late' WHERE job_id = 'job-1'")
        erasure = asyncio.create_task(store.writer.write([erasing(one)]))
        await eventually(lambda: waits_for_a_lock(store.dsn))
        slow.commit()
    await erasure
    assert store.rows() == {}


async def test_44_bodies_that_cannot_be_removed_now_are_waited_for(store: Store) -> None:
    store.blobs.broken = BlobFault("no route")
    with pytest.raises(DestinationDown, match="no route"):
        await store.writer.write([erasing(delivery(1))])
