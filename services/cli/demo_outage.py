"""What the API says of the jobs of an org while one of their destinations is down."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Protocol

import msgspec

from api.answers import Job
from services.cli.demo_receiver import Receiver
from services.ledger.status import Status

LOOK_SECONDS = 0.2
LAST_LOOK_SECONDS = 1.0  # before the end: what is tried again at the end has to find the destination back


class Outage(msgspec.Struct, frozen=True, rename="camel"):
    """One destination that was down, and the jobs that waited for it; lists hold ids of jobs and ought to be empty."""

    org_id: str
    destination_id: str
    waiting: int  # jobs in extraction_done half-way through, each naming the destination
    not_naming: list[str]  # in extraction_done, but not waiting for the destination
    early: list[str]  # completed although the destination had taken nothing
    left: list[str]  # waiting half-way through, and not any more at the end
    refused: int = 0  # messages that it did not take
    accepted: int = 0  # different messages that it took once it was back
    seconds: float = 0.0
    from_time: str = ""  # ISO 8601
    to_time: str = ""

    @property
    def ok(self) -> bool:
        """Whether jobs waited, and each as it should."""
        return self.waiting > 0 and not self.not_naming and not self.early and not self.left


class Asking(Protocol):
    """Asks the API about jobs of one org."""

    def statuses(self, job_ids: Sequence[str]) -> Awaitable[Mapping[str, str]]:
        """Return the state of each job by its id."""

    def jobs(self, job_ids: Sequence[str]) -> Awaitable[Sequence[Job]]:
        """Return everything about each job."""


async def sit_out(receiver: Receiver, api: Asking, org_id: str, destination_id: str, job_ids: Sequence[str]) -> Outage:
    """Look at the jobs half-way through the outage and at its end, then end it."""
    await receiver.called.wait()
    await asyncio.sleep(receiver.left() - receiver.down_seconds / 2)
    waiting, not_naming = await _waiting(receiver, api, destination_id, job_ids)
    await asyncio.sleep(receiver.left() - LAST_LOOK_SECONDS)
    states = await api.statuses(job_ids)
    await asyncio.sleep(receiver.left())
    receiver.open()
    return Outage(
        org_id,
        destination_id,
        waiting=len(waiting),
        not_naming=not_naming,
        early=[job_id for job_id, state in states.items() if state == Status.COMPLETED],
        left=[job_id for job_id in waiting if states.get(job_id) != Status.EXTRACTION_DONE],
    )


def ended(outage: Outage, receiver: Receiver) -> Outage:
    """Return an outage with what the receiver saw of it, once the jobs have ended."""
    if receiver.first_at is None or receiver.back_at is None:
        return outage
    return msgspec.structs.replace(
        outage,
        refused=receiver.refused,
        accepted=len(receiver.accepted),
        seconds=round((receiver.back_at - receiver.first_at).total_seconds(), 2),
        from_time=receiver.first_at.isoformat(),
        to_time=receiver.back_at.isoformat(),
    )


async def _waiting(
    receiver: Receiver, api: Asking, destination_id: str, job_ids: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the jobs in extraction_done that name the destination, and those that do not; wait for the first one."""
    while True:
        states = await api.statuses(job_ids)
        jobs = await api.jobs([job_id for job_id, state in states.items() if state == Status.EXTRACTION_DONE])
        waiting = [job for job in jobs if job.status == Status.EXTRACTION_DONE]
        if waiting or receiver.left() < LAST_LOOK_SECONDS:
            naming = [job.job_id for job in waiting if destination_id in job.gate.pending]
            return naming, [job.job_id for job in waiting if job.job_id not in naming]
        await asyncio.sleep(LOOK_SECONDS)
