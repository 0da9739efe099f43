"""Results of other jobs, as modules get them: chunks by the read model, rows from the blob store."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import psycopg
from psycopg import AsyncConnection, sql

from services.ledger.items import Items
from services.runtime.errors import BlobFault, BlobMissing
from services.runtime.item_chunks import rows_part
from services.runtime.postgres_faults import reason_of
from services.runtime.sql import blocks
from services.workers.blobs import Blobs
from services.workers.modules.protocol import ModuleFailed

SQL = blocks(Path(__file__).with_name("stored.sql"))
CONNECT_SECONDS = 5
ALL = 2**62


class StoredItems:
    """Opens a connection for each job that is asked about: a plan asks once."""

    def __init__(self, dsn: str, blobs: Blobs) -> None:
        self._dsn, self._blobs = dsn, blobs

    async def of(self, org_id: str, job_id: str) -> AsyncIterator[bytes]:
        """Yield the results of a job of an org, each as JSON; ModuleFailed where there are none to be had."""
        try:
            chunks = await self._chunks(org_id, job_id)
        except psycopg.Error as error:
            raise BlobFault(f"the chunks of job {job_id} are not to be had: {reason_of(error)}") from error
        for key, rows_bytes in chunks:
            try:
                data = await self._blobs.get(key)
            except BlobMissing:
                raise ModuleFailed(f"the results of job {job_id} were purged meanwhile") from None
            for row in rows_part(data, rows_bytes):
                yield row

    async def _chunks(self, org_id: str, job_id: str) -> list[tuple[str, int]]:
        async with await AsyncConnection.connect(self._dsn, connect_timeout=CONNECT_SECONDS) as connection:
            active = await (await connection.execute(SQL["active_schema"])).fetchone()
            schema = sql.Identifier(active[0] if active else "")
            await connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(schema))
            key: dict[str, Any] = {"org_id": org_id, "job_id": job_id}
            row = await (await connection.execute(SQL["job"], key)).fetchone()
            if row is None:
                raise ModuleFailed(f"there is no job {job_id} with results: name one of your module jobs")
            progress, expired_at = row
            if expired_at is not None:
                raise ModuleFailed(f"the results of job {job_id} are past retention")
            adopts = msgspec.convert(progress, Items).adopts if progress else ()
            links = [*(link.job_id for link in adopts), job_id]
            chunks = [*(link.chunks for link in adopts), ALL]
            asked = {"org_id": org_id, "links": links, "chunks": chunks}
            return await (await connection.execute(SQL["chunks"], asked)).fetchall()
