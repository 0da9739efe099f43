"""Ended jobs leave memory, and come back when something comes in about them: both are events, so that the log alone
says what is in memory at a position.

A job that is not in memory has ended and settled, and whoever keeps the archive has every event of it.
"""

from itertools import islice

import msgspec
from msgspec.structs import replace

from schemas.events import JobRecalled
from schemas.recorded import Recorded
from services.ledger.commands import AnyCommand, SettleDeliveries
from services.ledger.job import Job
from services.ledger.job_parts import share
from services.ledger.state import Ledger

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Job).decode


def archivable(ledger: Ledger, archived: int) -> int:
    """Return up to which position ended jobs can leave memory, if the archive has every event up to `archived`.

    0: it is not worth an event yet. Many leave at once, the oldest first.
    """
    surplus = len(ledger.ended) - ledger.policy.ended_kept
    enough = ledger.policy.ended_kept // 10
    if surplus <= enough:
        return 0
    ended_before = ledger.occurred_at - ledger.policy.ended_kept_for
    found = up_to = 0
    for job_id, position in islice(ledger.ended.items(), surplus):
        if position > archived or ledger.jobs[job_id].ending.at > ended_before:
            break
        found, up_to = found + 1, position
    return up_to if found > enough else 0


def forget(ledger: Ledger, up_to: int) -> None:
    """Let the ended jobs go whose newest event is not behind this position."""
    while ledger.ended:
        job_id, position = next(iter(ledger.ended.items()))
        if position > up_to:
            break
        del ledger.ended[job_id], ledger.jobs[job_id]
    ledger.archived_up_to = max(ledger.archived_up_to, up_to)


def absent(ledger: Ledger, command: AnyCommand) -> list[tuple[str, str]]:
    """Return the jobs, as (org_id, job_id), that a command is about and that may have left memory."""
    if not ledger.archived_up_to:
        return []
    if isinstance(command, SettleDeliveries):
        named = {(result.org_id, result.job_id) for result in command.results}
    else:
        named = {(command.org_id, command.job_id)} if command.job_id else set()
    return sorted(key for key in named if key[1] not in ledger.jobs)


def recall(job: Job) -> JobRecalled:
    """Return the event that brings a job back into memory as it is here."""
    return JobRecalled(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        private=job.private,
        last_seq=job.seq,
        state=_encode(replace(job, private=b"")),
    )


def recalled_job(recorded: Recorded, event: JobRecalled) -> Job:
    """Return the job that comes back."""
    job = _decode(event.state)
    return replace(job, terms=share(job.terms), private=event.private, seq=recorded.header.seq)
