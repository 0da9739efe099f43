"""Scenario 29: a broker that is down across two fire times. What was missed follows the policy, and all goes on."""

import asyncio
import dataclasses
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool

from api.config import orgs, schedules
from api.config.schedules import Schedule, Setting
from api.config.store import Pool
from api.schedules.plan import Missed
from projections.verify import verify
from schemas.events import JobSubmitted, ScheduleFired
from schemas.values import FireKind, FireOutcome
from services.ledger.policy import SECOND
from services.localstack.stack import Stack
from services.runtime.settings import settings_from
from services.runtime.topics import partition_of_org
from tests.eventually import eventually
from tests.integration.workers.plant import ORG
from tests.scenarios.own_stack import away, made_ready
from tests.scenarios.tended import PATIENCE_SECONDS as LONG_SECONDS
from tests.scenarios.tended import Tended, tended
from tests.unit.workers.fakes import service, workflow

pytestmark = pytest.mark.kafka
EVERY_SECONDS = 4
AWAY_SECONDS = 2.5 * EVERY_SECONDS + 2  # two fire times, and the grace of the second
POLICIES: tuple[Missed, ...] = ("skip", "once", "all")
DOCUMENT: dict[str, Any] = {"nodes": [], "edges": []}  # nothing runs here: no worker is started


async def made(pool: Pool, partition: int) -> dict[str, Schedule]:
    """Make an org with a workflow, and a schedule for each policy."""
    await orgs.save(pool, org_id=ORG, name=ORG, partition=partition, plan="standard", max_in_flight=5)
    await orgs.confirm(pool, ORG)
    async with pool.connection() as connection:
        await connection.execute(
            "INSERT INTO config.workflows (org_id, workflow_id, version, state, document, ref, published_at) "
            "VALUES (%s, 'w', 1, 'published', %s, 'workflows/w1', now())",
            (ORG, psycopg.types.json.Jsonb(DOCUMENT)),
        )
    found: dict[str, Schedule] = {}
    for missed in POLICIES:
        work: dict[str, Any] = {"url": "https://shop.example/secret-of-acme", "priority": 0}
        setting = Setting(missed, f"*/{EVERY_SECONDS} * * * * *", "UTC", work, (), missed, enabled=True)
        found[missed], _ = await schedules.add(pool, ORG, f"sch-{missed}", setting, 10)
    return found


def fires(plant: Tended, schedule: Schedule, *kinds: FireKind) -> list[ScheduleFired]:
    """Return the fires of a schedule in the log, of some kinds."""
    events = (each.event for each in plant.events)
    mine = (each for each in events if isinstance(each, ScheduleFired) and each.schedule_id == schedule.schedule_id)
    return [each for each in mine if not kinds or each.how in kinds]


def accounted_for(some: list[ScheduleFired]) -> set[int]:
    """Return the due times, in seconds, that fires stand for."""
    return {fire.due_at // SECOND - EVERY_SECONDS * before for fire in some for before in range(fire.due_times)}


def logs_of(directory: Path, module: str) -> str:
    """Return all that the processes of a module have logged."""
    return "".join(file.read_text() for file in directory.glob(f"{module}*"))


async def test_29_missed_fires_of_a_broker_that_was_down_follow_their_policy_and_the_schedules_go_on(
    own: Stack, tmp_path: Path
) -> None:
    async with tended(settings_from(made_ready(own)), tmp_path) as plant:
        plant.settings = dataclasses.replace(plant.settings, schedule_grace_seconds=2.0, schedule_poll_seconds=0.2)
        await plant.open(workflow(service("a")))
        plant.start("projections")
        plant.tend()
        pool: Pool = AsyncConnectionPool(plant.settings.postgres, min_size=1, max_size=2, open=False)
        async with pool:
            mine = await made(pool, partition_of_org(ORG, plant.settings.partitions))
            for _ in range(2):  # two at once, neither of which knows of the other
                scheduler = plant.start("services.scheduler")
            await eventually(lambda: all(fires(plant, each, FireKind.CRON) for each in mine.values()), LONG_SECONDS)
            with away(own):
                await asyncio.sleep(AWAY_SECONDS / 2)
                scheduler.kill()  # between "due" and its answer; it is started again
                await asyncio.sleep(AWAY_SECONDS / 2)
            await eventually(lambda: all(fires(plant, each, FireKind.MISSED) for each in mine.values()), LONG_SECONDS)
            before = {name: len(fires(plant, each)) for name, each in mine.items()}
            for name, each in mine.items():
                await eventually(lambda name=name, each=each: len(fires(plant, each)) > before[name], LONG_SECONDS)  # type: ignore[misc]
        for name, schedule in mine.items():
            all_of_it, missed = fires(plant, schedule), fires(plant, schedule, FireKind.MISSED)
            assert all(sooner.due_at < later.due_at for sooner, later in pairwise(all_of_it))
            times = accounted_for(all_of_it)
            assert times >= set(range(min(times), max(times), EVERY_SECONDS))  # none is lost
            wanted = FireOutcome.SKIPPED if name == "skip" else FireOutcome.SUBMITTED
            assert {fire.outcome for fire in missed} == {wanted}
            assert name != "all" or {fire.due_times for fire in missed} == {1}
        jobs = [each.event for each in plant.events if isinstance(each.event, JobSubmitted)]
        named = [job_id for each in mine.values() for fire in fires(plant, each) for job_id in fire.job_ids]
        assert sorted(named) == sorted(job.job_id for job in jobs)
        assert {job.workflow_id for job in jobs} == {"w"}
        await plant.rest()
        assert "secret-of-acme" not in logs_of(tmp_path, "services.scheduler")
        report = await asyncio.to_thread(verify, plant.settings)
        assert report.ok, report.faults
        assert report.rows["schedule_fires"] > 0
