"""Bodies that came after a deletion or a purge go with the next sweep, and no other ones."""

from psycopg_pool import AsyncConnectionPool

from api.config.store import Pool
from services.runtime.blob import BlobStore, blob_key
from services.runtime.errors import BlobFault
from services.runtime.health import Progress
from services.runtime.settings import Settings
from services.scheduler.leftover_bodies import LeftoverBodies
from tests.integration.api.conftest import Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.test_delete import delete
from tests.integration.api.test_retention import expire, stored_job, write


async def test_bodies_of_jobs_that_are_gone_go_and_no_other_ones(
    api: Api, acme: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    blobs = BlobStore(with_operator.blobs)
    running, deleted = await submit(api, acme), await submit(api, acme)
    pocket.project()
    await delete(api, acme, pocket, deleted)
    expired = await stored_job(api, acme, pocket, with_operator)
    await expire(api, pocket, acme, expired)
    await write(with_operator, acme, expired, erase=True)
    pocket.project()
    kept = await stored_job(api, acme, pocket, with_operator)
    others = [blob_key("a/b ~c", kept, 1, "body"), blob_key(acme.org_id, "never/submitted", 1, "body"), "workflows/w1"]
    late = [blob_key(acme.org_id, job_id, attempt, "late") for job_id in (deleted, expired) for attempt in (1, 2)]
    alive = [blob_key(acme.org_id, job_id, 1, "body") for job_id in (running, kept)]
    for key in (*others, *late, *alive):
        await blobs.put(key, b"x")

    pool: Pool = AsyncConnectionPool(with_operator.postgres, min_size=1, max_size=1, open=False)
    async with pool:
        found = {job async for jobs in blobs.jobs() for job in jobs}
        assert {("a/b ~c", kept), (acme.org_id, "never/submitted"), (acme.org_id, deleted)} <= found
        assert await LeftoverBodies(pool, blobs, Progress("bodies")).sweep() == ""
        assert [await blobs.exists(key) for key in late] == [True] * 4, "their own erasures may be at work"
        assert await LeftoverBodies(pool, blobs, Progress("bodies"), grace_seconds=0.0).sweep() == ""
        assert [await blobs.exists(key) for key in late] == [False] * 4
        assert [await blobs.exists(key) for key in (*others, *alive)] == [True] * 5

        blobs.jobs = _failing  # type: ignore[method-assign]
        progress = Progress("bodies")
        assert "not listed" in await LeftoverBodies(pool, blobs, progress).sweep()
        assert progress.state()["ready"] is False


async def _failing():  # type: ignore[no-untyped-def]
    raise BlobFault("blobs not listed: simulated")
    yield set()
