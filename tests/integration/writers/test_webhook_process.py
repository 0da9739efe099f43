"""The webhook writer as a process: killed while a message is under way, its successor says the same again."""

from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool

from api.config import webhooks
from schemas.events import JobCompleted
from schemas.values import Destination
from services.runtime.sealing import Sealer
from services.runtime.settings import Settings
from services.writers.webhook.endpoints import Pool
from tests.eventually import eventually
from tests.integration.workers.plant import ORG, Plant, delivering
from tests.receiver import Receiver, receiving

INTERNAL = Destination(destination_id="internal", kind="postgres")


@pytest.fixture
async def plant(settings: Settings, tmp_path: Path) -> AsyncIterator[Plant]:
    """A plant with its decider, a worker and the Postgres writer."""
    async with delivering(settings, tmp_path, "postgres") as plant:
        yield plant


async def endpoint(settings: Settings, receiver: Receiver) -> tuple[Destination, ...]:
    """Configure an endpoint and return what a job gets of it."""
    with psycopg.connect(settings.postgres) as connection:
        acme = "INSERT INTO config.orgs (org_id, name, partition, plan, max_in_flight) VALUES (%s, 'Acme', 0, 'p', 5)"
        connection.execute(acme, (ORG,))
    pool: Pool = AsyncConnectionPool(settings.postgres, min_size=1, max_size=2, open=False)
    async with pool:
        sealer = Sealer(settings.credentials_key)
        made = await webhooks.create(
            pool, sealer, ORG, url=f"{receiver.url}/hook", event_types=(), gating=True, enabled=True
        )
    assert made is not None
    return tuple(made[0].destinations())


@pytest.mark.kafka
async def test_killed_after_the_receiver_has_it_the_same_message_comes_again_and_completes_the_job(
    plant: Plant,
) -> None:
    async with receiving() as receiver:
        places = await endpoint(plant.settings, receiver)
        receiver.hangs("/hook")
        first = plant.start("services.writers", JOBLEDGER_WRITER_KIND="webhook")
        job_id = await plant.submit("/p/1", INTERNAL, *places)
        await eventually(lambda: len(receiver.got["/hook"]) == 1, 60)
        first.kill()
        receiver.says("/hook", 204)
        plant.start("services.writers", JOBLEDGER_WRITER_KIND="webhook")
        completed = await plant.until("JobCompleted", job_id, 60)
    assert isinstance(completed, JobCompleted)
    assert len(completed.opened_by) == 2
    tries = receiver.got["/hook"]
    assert len(tries) >= 2
    assert len({got.message_id for got in tries}) == len({got.body for got in tries}) == 1
