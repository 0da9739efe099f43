"""Asks log, read models, destinations, blobs, API and the receiver what they have, and has it judged."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping

import psycopg

from projections.checkpoints import clickhouse_checkpoints
from projections.heads.signing import Signer
from projections.verification.snapshot import snapshot_of
from projections.verify import verify
from projections.verify_chain import verify_chain
from schemas.events import JobExtracted
from services.cli.client import Client
from services.runtime.blob import BlobStore
from services.runtime.settings import Settings
from tests.chaos.ledger import Ledger, parked
from tests.chaos.receiver import Receiver
from tests.chaos.traffic import Told
from tests.chaos.verdict import (
    Verdict,
    judge_ends,
    judge_faults,
    judge_history,
    judge_log,
    judge_receiver,
    judge_told,
)

LOOKS_AT_ONCE = 32


def projected(settings: Settings, positions: Mapping[int, int]) -> bool:
    """Whether both read models have the log up to these positions."""
    try:
        with snapshot_of(settings.postgres) as snapshot:
            postgres = {partition: each.position for partition, each in snapshot.checkpoints().items()}
        clickhouse = clickhouse_checkpoints(settings.postgres)
    except psycopg.OperationalError:
        return False
    return all(
        postgres.get(number, 0) >= position and clickhouse.get(number, 0) >= position
        for number, position in positions.items()
    )


async def examine(
    verdict: Verdict, ledger: Ledger, told: Told, receiver: Receiver, clients: Mapping[str, Client], signing_key: str
) -> None:
    """Look at everything; what is wrong is in the verdict afterwards."""
    settings, stories = ledger.settings, ledger.stories
    judge_ends(verdict, stories)
    judge_log(verdict, ledger.by_job)
    judge_history(verdict, [each for history in ledger.histories.values() for each in history.wrong])
    verdict.doubled += [f"position {each} stands in the log again" for each in ledger.repeated]
    judge_receiver(verdict, receiver, stories, ledger.by_job)
    judge_told(verdict, told, stories, await _statuses(told, clients))
    verdict.lost += await _missing_blobs(BlobStore(settings.blobs), ledger)
    public_key = Signer(signing_key).public_key
    checks: list[Callable[[], Iterable[object]]] = [
        lambda: verify(settings).faults,
        lambda: verify_chain(settings, public_key).faults,
    ]
    for check in checks:
        judge_faults(verdict, await asyncio.to_thread(check))  # type: ignore[arg-type]
    verdict.illegal += [f"dead-lettered: {each}" for each in await asyncio.to_thread(parked, settings)]


async def _statuses(told: Told, clients: Mapping[str, Client]) -> dict[str, str]:
    """Return what the API says of every job that it accepted."""
    statuses: dict[str, str] = {}
    for org_id, client in clients.items():
        statuses |= await client.statuses([job for job, asked in told.accepted.items() if asked.org_id == org_id])
    return statuses


async def _missing_blobs(blobs: BlobStore, ledger: Ledger) -> list[str]:
    """Return which bodies of completed jobs are not in the store."""
    places = asyncio.Semaphore(LOOKS_AT_ONCE)

    async def look(job_id: str, key: str) -> str:
        async with places:
            return "" if await blobs.exists(key) else f"{job_id} is completed and its blob {key} is not there"

    looks: list[Awaitable[str]] = [
        look(job_id, key)
        for job_id, story in ledger.stories.items()
        if story.status == "completed"
        for each in ledger.by_job[job_id]
        if isinstance(event := each.event, JobExtracted)
        for key in (event.result_ref, event.extraction_ref)
        if key
    ]
    return [said for said in await asyncio.gather(*looks) if said]
