"""Spider jobs on the real broker: a process that runs real Scrapy projects, and what it leaves behind."""

import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest

from schemas.events import ItemsRecorded, JobExtracted, JobLogged
from schemas.private import private_bytes
from schemas.values import Vocabulary
from services.ledger.commands import NewJob, SubmitJobs
from services.runtime.blob import BlobStore
from services.runtime.ids import uuid7
from services.runtime.item_chunks import lines_of, rows_part
from services.runtime.kept_secrets import Owner, sealed_for
from services.runtime.sealing import Sealer
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.workers.plant import ORG, Plant
from tests.spiders.archives import packed
from tests.spiders.site import site
from tests.unit.workers.fakes import workflow

pytestmark = pytest.mark.kafka
ARCHIVE = "deploys/project.tar.gz"


@pytest.fixture
async def plant(settings: Settings, tmp_path: Path) -> AsyncIterator[Plant]:
    """A plant with its decider."""
    plant = Plant(settings, tmp_path)
    try:
        await plant.open(workflow())
        yield plant
    finally:
        await plant.close()


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder for the runs of workers."""
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


async def worker(plant: Plant, name: str, folder: Path, **values: str) -> "subprocess.Popen[bytes]":
    """Start a worker of spiders and wait until the ledger knows it."""
    values = {"JOBLEDGER_WORKER_ID": name, "JOBLEDGER_SPIDER_FOLDER": str(folder), **values}
    process = plant.start("services.workers.spiders", **values)
    alive = plant.settings.partitions
    await eventually(lambda: len({e.header.partition for e in plant.of("WorkerAlive", worker_id=name)}) == alive, 60)
    return process


async def submit(plant: Plant, project: str, spider: str, limit: int = 3600, **options: Any) -> str:
    """Submit a run of a spider of one of the projects."""
    await BlobStore(plant.settings.blobs).put(ARCHIVE, packed(project))
    given = {"project": project, "spiders": [spider], "deploy_version": 1, "memory_mb": 256} | options
    job_id = uuid7()
    await plant.ask(
        SubmitJobs(
            command_id=uuid7(),
            org_id=ORG,
            requester=plant._commander.boot_id,
            jobs=(NewJob(job_id=job_id, private=private_bytes({"input": given})),),
            vocabulary=Vocabulary.SPIDER,
            workflow_id=project,
            workflow_ref=ARCHIVE,
            max_run_seconds=limit,
        )
    )
    return job_id


def keep_env(settings: Settings, project: str, env: dict[str, str]) -> None:
    """Keep the environment of a project, as the API does."""
    sealed, _ = sealed_for(Sealer(settings.credentials_key), Owner("project", ORG, project), {"env": env})
    with psycopg.connect(settings.postgres, autocommit=True) as connection:
        connection.execute("INSERT INTO config.orgs VALUES (%s, 'Acme', 0, 'standard', 5)", (ORG,))
        insert = "INSERT INTO config.spider_projects (org_id, project, name, sealed) VALUES (%s, %s, 'n', %s)"
        connection.execute(insert, (ORG, project, sealed))


async def items(plant: Plant, job_id: str) -> list[Any]:
    """Return what is recorded of a job, in its order."""
    store, found = BlobStore(plant.settings.blobs), []
    for each in plant.of("ItemsRecorded", job_id):
        assert isinstance(each.event, ItemsRecorded)
        data = await store.get(each.event.items_ref)
        found += [msgspec.json.decode(row) for row in rows_part(data, each.event.rows_bytes)]
    return found


async def lines(plant: Plant, job_id: str) -> list[str]:
    """Return the recorded log of a job."""
    store, found = BlobStore(plant.settings.blobs), []
    for each in plant.of("JobLogged", job_id):
        assert isinstance(each.event, JobLogged)
        found += [msgspec.json.decode(line)["message"] for line in lines_of(await store.get(each.event.lines_ref))]
    return found


async def test_a_run_is_recorded_item_by_item_and_completes(plant: Plant, runs: Path) -> None:
    await worker(plant, "s1", runs)
    async with site() as address:
        job_id = await submit(plant, "plain", "shop", spider_args={"site": address})
        await plant.until("JobCompleted", job_id, 60.0)
    extracted = plant.of("JobExtracted", job_id)[0].event
    assert isinstance(extracted, JobExtracted)
    assert extracted.items == 15
    assert [each["name"] for each in await items(plant, job_id)] == [
        f"Lamp {page}.{row}" for page in (1, 2, 3) for row in range(5)
    ]
    assert any("FEEDS are off" in line for line in await lines(plant, job_id))
    assert plant.of("StatsRecorded", job_id, final=True)
    assert not os.listdir(runs)  # noqa: PTH208


async def test_a_spider_sees_nothing_of_its_worker_and_has_what_its_project_and_its_run_say(
    plant: Plant, runs: Path
) -> None:
    await worker(plant, "s1", runs)
    keep_env(plant.settings, "endless", {"SHOP_TOKEN": "of the project", "SHOP_REGION": "eu"})
    async with site() as address:
        given: dict[str, Any] = {
            "spider_args": {"site": address},
            "env": {"SHOP_TOKEN": "of the run", "LD_LIBRARY_PATH": "/nowhere"},
        }
        job_id = await submit(plant, "endless", "nosy", **given)
        await plant.until("JobCompleted", job_id, 60.0)
    *tried, seen = await items(plant, job_id)
    assert tried == [{"refused": "PermissionError"}] * 2
    assert {"SHOP_TOKEN", "SHOP_REGION"} <= set(seen["names"])
    assert not [name for name in seen["names"] if name.startswith(("JOBLEDGER_", "LD_"))]
    said = " ".join(await lines(plant, job_id))
    assert "SHOP_TOKEN" in said
    assert "of the run" not in said
