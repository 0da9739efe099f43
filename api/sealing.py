"""What an org's erasure asks of a submission: keys for its jobs before the ledger hears of them, digests with a key.

A key without a job is harmless; a job without its key could never run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from msgspec.structs import replace

from api.auth import Caller
from services.ledger.commands import NewJob, ResumeJob, SubmitJobs
from services.ledger.replies import Done, Reply
from services.runtime.errors import KeysAway
from services.runtime.shredding.store import JobKeys
from services.runtime.shredding.vault import OrgKey
from services.runtime.time import utc_now

CLOCKS_APART = timedelta(hours=2)  # those of Postgres and of an API; a remembered key lives up to an hour longer too


@dataclass(frozen=True, slots=True)
class Sealing:
    """How the jobs of one submission are sealed; without an org key they stay in clear."""

    keys: JobKeys
    org_key: OrgKey | None

    @property
    def digest_key(self) -> bytes:
        """What the digest of the request is made with; empty for an org without erasure."""
        return self.org_key.digest_key() if self.org_key else b""

    async def sealed(self, jobs: Sequence[NewJob]) -> dict[str, NewJob]:
        """Return the jobs by their ids, as the ledger may hear of them: their keys are saved."""
        if self.org_key is None:
            return {job.job_id: job for job in jobs}
        private = await self.keys.seal(self.org_key, {job.job_id: job.private for job in jobs})
        return {job.job_id: replace(job, private=private[job.job_id]) for job in jobs}

    async def tidy(self, commands: Iterable[SubmitJobs | ResumeJob], replies: Iterable[Reply]) -> None:
        """Destroy the keys of jobs that an earlier request had made: this one has made none of its own."""
        if self.org_key is None:
            return
        for command, reply in zip(commands, replies, strict=True):
            if isinstance(reply.body, Done) and reply.body.repeated:
                new = command.jobs if isinstance(command, SubmitJobs) else (command.new,)
                unused = {job.job_id for job in new} - set(reply.body.job_ids)
                await self._forget([(command.org_id, job_id) for job_id in unused])

    async def _forget(self, jobs: list[tuple[str, str]]) -> None:
        try:
            await self.keys.forget(jobs)
        except KeysAway:
            return  # they harm nobody, and the jobs were accepted


async def sealing_of(keys: JobKeys, caller: Caller) -> Sealing:
    """Return how the jobs of a caller are sealed."""
    return Sealing(keys, await keys.org_key(caller.org_id) if caller.erasure else None)


async def sealing_of_org(keys: JobKeys, org_id: str) -> Sealing:
    """Return how the jobs of an org are sealed, where no caller says whether they are."""
    erasure, _ = await keys.turned(org_id)
    return Sealing(keys, await keys.org_key(org_id) if erasure else None)


async def former_digest_key(keys: JobKeys, caller: Caller, remembered: timedelta) -> bytes | None:
    """Return what digests were made with before the org's erasure was turned; None: no such digest is remembered."""
    _, since = await keys.turned(caller.org_id)
    if since is None or since + remembered + CLOCKS_APART < utc_now():
        return None
    return b"" if caller.erasure else (await keys.org_key(caller.org_id)).digest_key()
