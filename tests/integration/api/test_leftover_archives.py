"""Archives that no version has any more go at the second look, and none that a job, a version or an upload needs."""

from collections.abc import AsyncIterator

import pytest
from psycopg_pool import AsyncConnectionPool

from api.config import deploys, projects
from api.config.deploys import Archive
from api.config.store import Pool
from api.spiders.archives import archive_key
from services.runtime.blob import BlobStore
from services.runtime.health import Progress
from services.runtime.settings import Settings
from services.scheduler.leftover_archives import LeftoverArchives
from tests.integration.api.conftest import Api, Tenant
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.spider_runs import SpiderRunner, submit_spiders

ONE, TWO = "1" * 64, "2" * 64


@pytest.fixture
async def pool(with_operator: Settings) -> AsyncIterator[Pool]:
    """The connections of a scheduler."""
    pool: Pool = AsyncConnectionPool(with_operator.postgres, min_size=1, max_size=2, open=False)
    async with pool:
        yield pool


@pytest.fixture
def blobs(with_operator: Settings) -> BlobStore:
    """Where archives are."""
    return BlobStore(with_operator.blobs)


@pytest.fixture
def sweeper(pool: Pool, blobs: BlobStore, pocket: PocketLedger) -> LeftoverArchives:
    """What looks for leftovers."""
    return LeftoverArchives(pool, blobs, pocket, Progress("archives"))


async def add(pool: Pool, blobs: BlobStore, digest: str, most: int = 100) -> str:
    """Deploy an archive of acme's shop, and return its key."""
    key = archive_key("acme", digest)

    async def keep() -> None:
        await blobs.put(key, b"archive")

    await projects.add(pool, "acme", "shop", "Shop")
    assert await deploys.add(pool, "acme", "shop", Archive(key, digest, 7, ["books"]), "", "", keep=keep, most=most)
    return key


async def test_an_archive_goes_once_its_project_is_gone_and_no_job_runs_it(
    api: Api, acme: Tenant, pocket: PocketLedger, with_operator: Settings, pool: Pool, blobs: BlobStore,
    sweeper: LeftoverArchives,
) -> None:  # fmt: skip
    archive = await add(pool, blobs, ONE)
    key = await submit_spiders(api, acme)
    pocket.project()
    await projects.end(pool, "acme", "shop")
    await projects.delete(pool, "acme", "shop")
    assert [await sweeper.sweep() for _ in range(3)] == [""] * 3
    assert await blobs.exists(archive), "a job waits that runs it"
    runner = SpiderRunner(pocket, with_operator, acme)
    runner.begin(key)
    runner.fail(key, "critical_log")
    pocket.project()
    assert await sweeper.sweep() == ""
    assert await blobs.exists(archive), "a submission may be under way"
    assert await sweeper.sweep() == ""
    assert not await blobs.exists(archive)


async def test_what_has_a_version_stays_and_what_lost_it_goes_but_not_while_the_read_model_is_behind(
    api: Api, acme: Tenant, pocket: PocketLedger, pool: Pool, blobs: BlobStore, sweeper: LeftoverArchives
) -> None:
    old, new = await add(pool, blobs, ONE), await add(pool, blobs, TWO, most=1)
    await sweeper.sweep()
    key = await submit_spiders(api, acme)
    await sweeper.sweep()
    assert await blobs.exists(old), "Postgres does not know yet what was submitted last"
    pocket.project()
    await sweeper.sweep()
    assert [await blobs.exists(each) for each in (old, new)] == [False, True]
    assert key


async def test_what_is_uploaded_again_in_between_stays(
    api: Api, acme: Tenant, pocket: PocketLedger, pool: Pool, blobs: BlobStore, sweeper: LeftoverArchives
) -> None:
    old = await add(pool, blobs, ONE)
    await add(pool, blobs, TWO, most=1)
    pocket.project()
    await sweeper.sweep()
    await add(pool, blobs, ONE)
    await sweeper.sweep()
    assert await blobs.exists(old)


async def test_a_decider_that_is_away_keeps_them_and_is_said(
    api: Api, acme: Tenant, pocket: PocketLedger, pool: Pool, blobs: BlobStore, sweeper: LeftoverArchives
) -> None:
    old = await add(pool, blobs, ONE)
    await add(pool, blobs, TWO, most=1)
    pocket.project()
    assert await sweeper.sweep() == ""
    pocket.down = True
    assert "not looked for" in await sweeper.sweep()
    assert await blobs.exists(old)
