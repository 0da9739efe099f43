"""Snapshots of a running stack that are exchanged, damaged and deleted: whoever starts then is no different for it."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from services.ledger.apply import apply
from services.ledger.digest import digest_of_state
from services.ledger.record import digest_of
from services.ledger.state import Ledger
from services.runtime.beginning import beginning
from services.runtime.ledger_log import Checkpoint, LedgerLog
from services.runtime.policy import policy_of
from services.runtime.registry import decoder
from services.runtime.settings import Settings, blob_directory
from tests.eventually import eventually
from tests.scenarios.tended import PATIENCE_SECONDS, SNAPSHOTS, Tended, tended

pytestmark = pytest.mark.kafka
DECIDER = "services.decider"


def folders(plant: Tended) -> list[Path]:
    """Return the places of the snapshots, by partition."""
    root = blob_directory(plant.settings.blobs)
    assert root is not None
    place = root / "snapshots" / plant.settings.topic_prefix
    return [place / f"{partition:05}" for partition in range(plant.settings.partitions)]


def exchange(plant: Tended) -> None:
    """Give each partition the snapshots of another."""
    places = folders(plant)
    for place in places:
        place.rename(place.with_suffix(".old"))
    for place, other in zip(places, [*places[1:], places[0]], strict=True):
        other.with_suffix(".old").rename(place)


def damage(plant: Tended) -> None:
    """Turn a bit in the middle of every snapshot."""
    for file in (file for place in folders(plant) for file in place.iterdir()):
        whole = bytearray(file.read_bytes())
        whole[len(whole) // 2] ^= 1
        file.write_bytes(whole)


def delete(plant: Tended) -> None:
    """Remove all of them."""
    for place in folders(plant):
        shutil.rmtree(place)


def state(settings: Settings, partition: int, position: int, ledger: Ledger, start: Checkpoint) -> bytes:
    """Fold the log from a checkpoint up to a position, and return the digest of what there is then."""
    log = LedgerLog(settings, decoder(settings), {partition: start})
    while ledger.position < position:
        for entry in log.poll(1, 5.0):
            assert entry.recorded is not None
            apply(ledger, entry.recorded, digest_of(entry.raw))
    log.close()
    return digest_of_state(ledger)


def same_with_and_without(settings: Settings, partition: int, position: int) -> bool:
    """Whether a start with what the blob store has ends where one with the log alone does."""
    policy = policy_of(settings)
    begun, start = beginning(settings, partition, policy)
    whole = state(settings, partition, position, Ledger(partition, policy), Checkpoint())
    return state(settings, partition, position, begun, start) == whole


async def snapshots_of_all(plant: Tended) -> None:
    """Let a snapshotter write some of each partition anew, and end it."""
    for place in folders(plant):
        shutil.rmtree(place, ignore_errors=True)
    snapshotter = plant.start("services.snapshotter", before=SNAPSHOTS)
    await eventually(lambda: all(place.is_dir() and len(list(place.iterdir())) >= 2 for place in folders(plant)), 60)
    plant.forget(snapshotter)


async def test_snapshots_that_are_not_what_they_were_change_nothing(settings: Settings, tmp_path: Path) -> None:
    async with tended(settings, tmp_path) as plant:
        await plant.begin()
        jobs = [await plant.submit(path) for path in ("/slow/1", "/p/1", "/later/1/1")]
        await plant.ended(jobs[1:])
        harms: list[tuple[Callable[[Tended], None], set[str]]] = [
            (exchange, {"other_partition"}),
            (damage, {"corrupt", "truncated"}),  # the length of a part may be what is damaged
            (delete, set()),
        ]
        for harm, reasons in harms:
            await snapshots_of_all(plant)
            began = len(plant.processes)
            plant.running(DECIDER).kill()
            harm(plant)
            await eventually(lambda began=began: len(plant.processes) > began, PATIENCE_SECONDS)  # type: ignore[misc]
            jobs.append(await plant.submit(f"/p/after-{harm.__name__}"))
            await plant.ended(jobs[-1:])
            told = plant.log_of(plant.running(DECIDER)).read_text()
            assert ("snapshot not used" in told) is bool(reasons)
            assert not reasons or any(reason in told for reason in reasons)
            seen = {each.header.partition: each.header.position for each in plant.events}
            for partition, position in seen.items():
                assert await asyncio.to_thread(same_with_and_without, plant.settings, partition, position)
        plant.site.gate.set()
        await plant.ended(jobs)
        assert len(plant.of("JobClaimed", jobs[0])) == 1
        await plant.verified(jobs)
