"""Keys of jobs that never were go, and never one of a job that is, or that is about to be submitted."""

from collections.abc import AsyncIterator
from contextlib import closing

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool

from api.config.store import Pool
from services.runtime.health import Progress
from services.runtime.settings import Settings
from services.runtime.shredding.store import JobKeys
from services.runtime.shredding.vault import Vault
from services.scheduler.leftover_keys import LeftoverKeys
from tests.integration.api.conftest import Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.test_delete import delete
from tests.integration.api.test_erasure import make_private

LEFTOVERS = [f"0197aaaa-0000-7000-8000-00000000000{number}" for number in range(3)]


@pytest.fixture
async def pool(with_operator: Settings) -> AsyncIterator[Pool]:
    """The connections of a scheduler."""
    pool: Pool = AsyncConnectionPool(with_operator.postgres, min_size=1, max_size=2, open=False)
    async with pool:
        yield pool


async def seal(pool: Pool, settings: Settings, tenant: Tenant, jobs: list[str]) -> dict[str, bytes]:
    """Do as the API does before the ledger hears of jobs."""
    keys = JobKeys(pool, Vault(settings.credentials_key))
    return await keys.seal(await keys.org_key(tenant.org_id), dict.fromkeys(jobs, b"\0{}"))


def age(settings: Settings, days: int) -> None:
    """Let nobody have asked for any key for so long."""
    with closing(psycopg.connect(settings.postgres, autocommit=True)) as connection:
        connection.execute("UPDATE sealing.job_keys SET touched_at = touched_at - make_interval(days => %s)", (days,))


def having_keys(settings: Settings) -> set[str]:
    """The jobs that have a key."""
    with closing(psycopg.connect(settings.postgres)) as connection:
        return {job_id for (job_id,) in connection.execute("SELECT job_id FROM sealing.job_keys")}


async def test_keys_of_jobs_that_never_were_go_once_everybody_would_know_of_the_jobs(
    api: Api, pocket: PocketLedger, pool: Pool, with_operator: Settings
) -> None:
    tenant = await make_private(api, "private")
    job_id, doomed = await submit(api, tenant), await submit(api, tenant)
    pocket.project()
    await delete(api, tenant, pocket, doomed)
    unprojected = await submit(api, tenant)  # the read model does not know of it yet
    await seal(pool, with_operator, tenant, LEFTOVERS)
    progress = Progress("keys")
    leftovers = LeftoverKeys(pool, pocket, progress, most=2)

    assert await leftovers.sweep() == ""
    assert having_keys(with_operator) == {job_id, unprojected, *LEFTOVERS}, "they are young"
    age(with_operator, 8)
    assert await leftovers.sweep() == ""
    assert having_keys(with_operator) == {job_id, unprojected, *LEFTOVERS}, "the read model lags behind"
    pocket.project()
    pocket.down = True
    assert "no decider" in await leftovers.sweep()
    assert progress.state()["ready"] is False
    pocket.down = False
    assert await leftovers.sweep() == ""
    assert having_keys(with_operator) == {job_id, unprojected}
    assert await leftovers.sweep() == ""


async def test_a_key_that_a_late_repeat_makes_of_a_deleted_job_goes_too(
    api: Api, pocket: PocketLedger, pool: Pool, with_operator: Settings
) -> None:
    tenant = await make_private(api, "private")
    job_id, doomed = await submit(api, tenant), await submit(api, tenant)
    pocket.project()
    await delete(api, tenant, pocket, doomed)
    pocket.project()
    assert having_keys(with_operator) == {job_id}
    await seal(pool, with_operator, tenant, [doomed])
    leftovers = LeftoverKeys(pool, pocket, Progress("keys"))
    assert await leftovers.sweep() == ""
    assert having_keys(with_operator) == {job_id, doomed}, "it is young"
    age(with_operator, 8)
    assert await leftovers.sweep() == ""
    assert having_keys(with_operator) == {job_id}


async def test_who_submits_a_job_again_keeps_its_key_however_old_it_is(
    api: Api, pocket: PocketLedger, pool: Pool, with_operator: Settings
) -> None:
    """A scheduler whose ledger is away for weeks asks for the same jobs again and again."""
    tenant = await make_private(api, "private")
    first = await seal(pool, with_operator, tenant, LEFTOVERS)
    age(with_operator, 30)
    await seal(pool, with_operator, tenant, LEFTOVERS[:1])
    pocket.project()
    leftovers = LeftoverKeys(pool, pocket, Progress("keys"))
    assert await leftovers.sweep() == ""
    assert having_keys(with_operator) == {LEFTOVERS[0]}
    age(with_operator, 8)
    await leftovers.sweep()
    assert having_keys(with_operator) == set(), "what was touched is looked at again"
    assert set(first) == set(LEFTOVERS)
