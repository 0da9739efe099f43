"""Scenario 44 on the real thing, for an org with erasure: of a deleted job nothing readable is left anywhere."""

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import cramjam
import psycopg
import pytest

from projections.verify import verify
from schemas.events import AnyEvent, DeliveryEvent
from schemas.private import private_json
from services.runtime.blob import BlobStore
from services.runtime.reader import LogReader
from services.runtime.sealing import new_key
from services.runtime.settings import Settings, blob_directory
from services.runtime.shredding.codec import Keys, is_sealed, revealed
from services.runtime.shredding.store import job_keys
from services.runtime.snapshots import FRAME, MAGIC
from services.runtime.topics import all_topics
from tests.eventually import eventually
from tests.integration.workers.plant import ORG, Plant
from tests.unit.workers.fakes import service, workflow

DELETED, KEPT = "marker-of-the-deleted", "marker-of-the-kept"
OFTEN = "import services.snapshotter.sink as sink; sink.EVENTS_BETWEEN = 5"
TABLES = ("jobs", "job_transitions", "job_trace", "extraction_deliveries", "deleted_jobs")
UNUSED = ("webhook", "clickhouse")  # kinds of deliveries
SECONDS = 60.0
READ_SECONDS = 10.0  # a topic; all of it is there when it is asked for


@pytest.fixture
async def plant(settings: Settings, tmp_path: Path) -> AsyncIterator[Plant]:
    """A plant with its decider, and an org with erasure."""
    plant = Plant(dataclasses.replace(settings, credentials_key=new_key(), clickhouse=""), tmp_path)
    async with job_keys(plant.settings) as keys:
        try:
            await plant.open(workflow(service("a", timeoutSeconds=60)))
            await keys.turn(ORG, on=True)
            plant.keys = keys
            yield plant
        finally:
            await plant.close()


def topics(settings: Settings) -> Iterator[tuple[str, bytes]]:
    """Yield every value that stands on any topic that is written to here, with where."""
    for topic in all_topics(settings):
        if topic.name.rpartition(".")[2] in UNUSED:
            continue
        reader = LogReader(settings, topic.name, dict.fromkeys(range(topic.partitions), 0))
        try:
            enough = time.monotonic() + READ_SECONDS  # signs of life go on: a topic may never be at its end
            while not reader.at_end() and time.monotonic() < enough:
                yield from ((topic.name, record.value) for record in reader.poll(1000, 0.5))
        finally:
            reader.close()


def blobs(settings: Settings) -> Iterator[tuple[str, bytes]]:
    """Yield every file of the blob store; snapshots also as they are unpacked."""
    directory = blob_directory(settings.blobs)
    assert directory is not None
    for file in directory.rglob("*"):
        if not file.is_file():
            continue
        data = file.read_bytes()
        yield str(file), data
        if data.startswith(MAGIC):
            at = len(MAGIC)
            while size := FRAME.unpack_from(data, at)[0]:
                at += FRAME.size + size
                yield f"{file} unpacked", bytes(cramjam.zstd.decompress(data[at - size : at]))


async def everything(settings: Settings) -> list[tuple[str, bytes]]:
    """All bytes of topics and blob store."""
    return await asyncio.to_thread(lambda: [*topics(settings), *blobs(settings)])


def rows(settings: Settings) -> dict[str, Any]:
    """A digest of each table of the read model."""
    with psycopg.connect(settings.postgres) as connection:
        return {
            table: connection.execute(
                f"SELECT count(*), md5(string_agg(t::text, ',' ORDER BY t::text)) FROM ledger_v1.{table} AS t".encode()
            ).fetchone()
            for table in TABLES
        }


def folded(settings: Settings) -> int:
    """How many events the read model has, at least."""
    with psycopg.connect(settings.postgres) as connection:
        [[number]] = connection.execute(
            "SELECT coalesce(sum(position), 0)::bigint FROM ledger_v1.checkpoints"
        ).fetchall()
    return int(number)


def keys_left(settings: Settings) -> set[str]:
    """The jobs that have a key."""
    with psycopg.connect(settings.postgres) as connection:
        return {job_id for (job_id,) in connection.execute("SELECT job_id FROM sealing.job_keys")}


def opens(plant: Plant, job_id: str, keys: Keys) -> list[str]:
    """What of a job's events can be read with these keys, each tried on every text."""
    found = []
    for each in plant.events:
        if each.event.job_id == job_id and each.event.private:
            assert is_sealed(each.event.private), each
            for key in keys.values():
                text = private_json(revealed(each.event.private, (ORG, job_id), {(ORG, job_id): key}))
                found += [text.decode()] if text else []
    return found


@pytest.mark.kafka
async def test_44_of_a_deleted_job_of_an_org_with_erasure_nothing_readable_is_left_anywhere(plant: Plant) -> None:
    await plant.worker("worker-1")
    plant.start("services.writers")
    projection = plant.start("projections")
    plant.start("services.snapshotter", before=OFTEN)
    kept = [await plant.submit(f"/p/{KEPT}"), await plant.submit(f"/gone/{KEPT}")]
    doomed = [await plant.submit(f"/p/{DELETED}"), await plant.submit(f"/gone/{DELETED}")]
    for good, bad in (kept, doomed):
        await plant.until("JobCompleted", good, SECONDS)
        await plant.until("JobFailed", bad, SECONDS)
    running = await plant.submit(f"/slow/{DELETED}")
    await eventually(lambda: plant.site.calls[f"/slow/{DELETED}"] == 1, SECONDS)
    doomed.append(running)
    assert keys_left(plant.settings) == {*kept, *doomed}
    assert plant.keys is not None
    before = await plant.keys.of([(ORG, job_id) for job_id in doomed])
    assert any(DELETED in text for job_id in doomed for text in opens(plant, job_id, before))  # there was what to erase

    for job_id in doomed:
        await plant.delete(job_id)
    await plant.until("ReportRefused", running, SECONDS)
    await eventually(lambda: keys_left(plant.settings) == set(kept), SECONDS)
    await eventually(lambda: all(_erased(plant, job_id) for job_id in doomed), SECONDS)
    left = await plant.keys.of([(ORG, job_id) for job_id in (*kept, *doomed)])
    assert left.keys() == {(ORG, job_id) for job_id in kept}
    assert [opens(plant, job_id, left) for job_id in doomed] == [[], [], []]
    held = await everything(plant.settings)
    assert {name for name, data in held if DELETED.encode() in data} == set()
    bodies = f"/{ORG}/"  # of jobs that are there still: these are not sealed
    assert {name for name, data in held if KEPT.encode() in data and bodies not in name} == set()
    assert any(data.startswith(MAGIC) for _, data in held), "no snapshot was looked into"
    store = BlobStore(plant.settings.blobs)
    assert [store.keys(f"{ORG}/{job_id}") for job_id in doomed] == [[], [], []]

    # What is left can be read, and once more in a read model that begins anew.
    assert [KEPT in "".join(opens(plant, job_id, left)) for job_id in kept] == [True, True]
    await eventually(lambda: folded(plant.settings) >= len(plant.events), SECONDS)
    projection.terminate()
    await asyncio.to_thread(projection.wait, SECONDS)
    report = await asyncio.to_thread(verify, plant.settings)
    assert report.ok, report.faults
    stood, number = rows(plant.settings), folded(plant.settings)
    with psycopg.connect(plant.settings.postgres, autocommit=True) as connection:
        names = ", ".join(f"ledger_v1.{table}" for table in (*TABLES, "checkpoints"))
        urls = connection.execute("SELECT url FROM ledger_v1.jobs").fetchall()
        connection.execute(f"TRUNCATE {names}".encode())
    assert sorted(url.rpartition("/")[2] for (url,) in urls) == [KEPT, KEPT]
    plant.start("projections")
    await eventually(lambda: folded(plant.settings) >= number, SECONDS)
    assert rows(plant.settings) == stood
    report = await asyncio.to_thread(verify, plant.settings)
    assert report.ok, report.faults


def _erased(plant: Plant, job_id: str) -> bool:
    """Whether the newest erasure that was asked for was done."""
    asked, done = (
        {_generation(each.event) for each in plant.of(event_type, job_id, destination_id="erasure")}
        for event_type in ("DeliveryRequested", "DeliveryAcked")
    )
    return bool(asked) and max(asked) in done


def _generation(event: AnyEvent) -> int:
    assert isinstance(event, DeliveryEvent)
    return event.generation
