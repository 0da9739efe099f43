"""The writer of Postgres where there is none: an outage, of which nothing is acknowledged."""

import json

import pytest

from services.writers.postgres.writer import PostgresWriter
from services.writers.writer import DestinationDown
from tests.unit.workers.fakes import MemoryBlobs
from tests.unit.writers.fakes import delivery


async def test_a_postgres_that_is_not_there_is_an_outage_and_no_delivery_is_answered() -> None:
    blobs, one = MemoryBlobs(), delivery(1)
    blobs.blobs[one.extraction_ref] = json.dumps({"normalized": {}}).encode()
    with pytest.raises(DestinationDown, match="Postgres"):
        await PostgresWriter("host=127.0.0.1 port=9 dbname=x", blobs).write([one])
