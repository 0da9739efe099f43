"""Scenario 56 through the API, with all processes: the set of destinations is frozen at submit."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from schemas.events import DeliveryRequested, DeliveryWaived, JobCompleted, JobSubmitted
from schemas.values import After
from services.localstack.ports import port_for
from services.runtime.settings import Settings
from tests.acceptance.instances import Caller, instance, prepared
from tests.eventually import eventually
from tests.integration.workers.plant import Plant, delivering
from tests.receiver import Receiver, receiving

SECONDS = 120.0
NAMES = ("kept", "disabled", "deleted")


@pytest.fixture
async def plant(settings: Settings, tmp_path: Path) -> AsyncIterator[Plant]:
    async with delivering(settings, tmp_path, "postgres", "webhook") as plant:
        plant.start("projections")
        yield plant


async def ordered(caller: Caller, api: str, method: str, path: str, body: Any = None) -> Any:
    """Make a call that has to succeed."""
    status, made = await caller.call(api, method, f"/api/v1{path}", body)
    assert status in (200, 201), made
    return made


async def submitted(caller: Caller, api: str, plant: Plant, path: str) -> str:
    """Submit a job through the API and return its id."""
    made = await ordered(caller, api, "POST", "/jobs", {"url": plant.site.url + path})
    return str(made["jobId"])


async def places_of(plant: Plant, job_id: str) -> dict[str, bool]:
    """Return where the data of a job goes, and whether it waits for that."""
    event = await plant.until("JobSubmitted", job_id, SECONDS)
    assert isinstance(event, JobSubmitted)
    return {each.destination_id: each.gating for each in event.destinations if each.after is After.EXTRACTION}


def told(receiver: Receiver, job_id: str) -> dict[str, int]:
    """Return how many messages about a job came to each path."""
    about = {path: sum(job_id.encode() in each.body for each in got) for path, got in receiver.got.items()}
    return {path: count for path, count in about.items() if count}


async def change_all(caller: Caller, api: str, url: str, ids: Mapping[str, str]) -> str:
    """Change what a later job gets in every way, and return the id of the endpoint that is new."""
    moved = {"url": f"{url}/moved", "gating": False, "onExhausted": "fail"}
    await ordered(caller, api, "PATCH", f"/webhooks/{ids['kept']}", moved)
    await ordered(caller, api, "PATCH", f"/webhooks/{ids['disabled']}", {"enabled": False})
    await ordered(caller, api, "DELETE", f"/webhooks/{ids['deleted']}")
    return str((await ordered(caller, api, "POST", "/webhooks", {"url": f"{url}/added"}))["webhookId"])


async def test_56_the_gate_of_a_running_job_is_as_submitted_whatever_its_org_changes_meanwhile(
    plant: Plant, tmp_path: Path
) -> None:
    async with aiohttp.ClientSession() as session, receiving() as receiver:
        api, caller = await instance(plant, port_for(tmp_path / "ports.json", "api"), session), Caller(session)
        await prepared(caller, api)
        ids = {
            name: (await ordered(caller, api, "POST", "/webhooks", {"url": f"{receiver.url}/{name}"}))["webhookId"]
            for name in NAMES
        }
        running = await submitted(caller, api, plant, "/slow/1")
        await plant.until("JobClaimed", running, SECONDS)
        added = await change_all(caller, api, receiver.url, ids)
        after = await submitted(caller, api, plant, "/p/2")
        plant.site.gate.set()
        for job_id in (running, after):
            await plant.until("JobCompleted", job_id, SECONDS)
            await plant.until("DeliveryAcked", job_id, SECONDS, destination_id=f"{ids['kept']}:job.completed")

        async def shown() -> bool:
            return bool((await caller.call(api, "GET", f"/api/v1/jobs/{running}"))[1]["status"] == "completed")

        await eventually(shown, SECONDS)
        job = await ordered(caller, api, "GET", f"/jobs/{running}")
    before, now = await places_of(plant, running), await places_of(plant, after)
    [store] = before.keys() & now.keys() - set(ids.values())
    assert before == {store: True, **dict.fromkeys(ids.values(), True)}
    assert now == {store: True, ids["kept"]: False, added: True}

    requests = [each.event for each in plant.of("DeliveryRequested", running)]
    asked = {each.destination_id for each in requests if isinstance(each, DeliveryRequested)}
    assert asked - {f"{each}:job.completed" for each in ids.values()} == before.keys()
    waived = plant.of("DeliveryWaived", running)
    reasons = {
        each.event.destination_id: each.event.reason for each in waived if isinstance(each.event, DeliveryWaived)
    }
    assert reasons == dict.fromkeys((ids["disabled"], ids["deleted"]), "destination_closed")
    acked = [
        each for place in (store, ids["kept"]) for each in plant.of("DeliveryAcked", running, destination_id=place)
    ]
    [completed] = plant.of("JobCompleted", running)
    assert isinstance(completed.event, JobCompleted)
    assert set(completed.event.opened_by) == {each.header.event_id for each in (*acked, *waived)}
    assert (job["gate"]["expected"], job["gate"]["acked"]) == (4, 2)
    assert told(receiver, running) == {"/moved": 2}  # the data, to where it is now, and the notice
