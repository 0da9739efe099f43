"""Module jobs of some seeds: a module that counts, customers who stop and resume its jobs, and what comes of it."""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from projections.verification.items import check_items
from projections.verification.log import PartitionLog
from schemas import events as e
from schemas.recorded import Recorded
from schemas.values import Vocabulary
from services.ledger.commands import AnyCommand, CancelJob, DeleteJob, NewJob, ResumeJob, SubmitJobs
from services.ledger.replies import Answer, Done, Refused
from services.runtime.blob import JobKey
from services.runtime.ids import uuid7
from services.runtime.item_chunks import ITEMS, outcomes_part, rows_part
from services.workers.modules.protocol import Item, Limits, Outcome, Tools
from tests.simulation.stores import Blobs
from tests.simulation.vault import Vault

CHANCE = 0.4  # of all seeds
NAME = "count"
NOT_NOW = ("resume_pending", "not_terminal", "results_expired", "unknown_job", "queue_full", "quota_exhausted")
Ask = Callable[[AnyCommand, bool], Awaitable[Answer]]


class CountParams(Struct):
    """How many items there are; every such item fails, every such one is never started; seconds that one takes."""

    items: int
    failing: int = 0
    skipping: int = 0
    seconds: float = 0.1


class Count:
    """Yields its number for each item."""

    name = NAME
    params = CountParams
    limits = Limits()
    item_credits = 1

    def faults(self, params: CountParams) -> list[str]:
        """Find nothing wrong."""
        return []

    async def plan(self, params: CountParams, tools: Tools) -> AsyncIterator[Mapping[str, Any]]:
        """Yield numbers."""
        for number in range(params.items):
            yield {"n": number, "query": f"q{number % 3}"}

    async def run(self, params: CountParams, items: Sequence[Item], tools: Tools) -> AsyncGenerator[Outcome]:
        """Yield outcomes, one after the other."""
        for item in items:
            await asyncio.sleep(params.seconds)
            how = how_of(params, item.number)
            if how == "failed":
                yield Outcome(item.number, error="http_4xx")
            elif how == "succeeded":
                tools.log("info", f"at {item.number}")
                yield Outcome(item.number, rows=[{"n": item.value["n"]}])


def how_of(params: CountParams, number: int) -> str:
    """Return what has to come of an item."""
    if params.skipping and number % params.skipping == 1:
        return "not_started"
    return "failed" if params.failing and number % params.failing == 2 else "succeeded"


@dataclass
class Modules:
    """The customers of module jobs; only in some seeds, and from numbers of their own: no other seed changes by it."""

    seed: int
    blobs: Blobs
    vault: Vault
    accepted: dict[str, str]  # job -> org
    deleted: dict[str, str]
    random: Random = field(init=False)
    active: bool = field(init=False)
    params: dict[str, CountParams] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(f"modules {self.seed}")  # repeatable on purpose
        self.active = self.random.random() < CHANCE

    async def customer(self, org: str, ask: Ask) -> None:
        """Submit a job or two; stop, resume, delete."""
        for number in range(self.random.choice((1, 1, 2))):
            await asyncio.sleep(self.random.uniform(0.0, 4.0))
            params = CountParams(
                items=self.random.choice((0, 5, 30, 60)),
                failing=self.random.choice((0, 0, 4, 3)),
                skipping=self.random.choice((0, 0, 5)),
                seconds=self.random.choice((0.01, 0.1, 0.4)),
            )
            job = f"{org}-count-{number}"
            submit = SubmitJobs(
                command_id="",
                org_id=org,
                jobs=(self._new(org, job, params),),
                vocabulary=Vocabulary.MODULE,
                workflow_id=NAME,
                max_run_seconds=self.random.choice((0, 5, 5, 60)),
                item_credits=self.random.choice((0, 1)),
                idempotency_digest=job.encode().ljust(16)[:16],
            )
            told = await ask(submit, True)
            if isinstance(told, Done):
                self.accepted[job] = org
                await self._meddle(org, job, params, ask)
            elif not (isinstance(told, Refused) and told.code in NOT_NOW):
                self.complaints.append(f"a module job of {org} was answered with {told}")

    async def _meddle(self, org: str, job: str, params: CountParams, ask: Ask) -> None:
        for number in range(self.random.choice((0, 1, 3))):
            await asyncio.sleep(self.random.uniform(0.5, 6.0))
            if self.random.random() < 0.5:
                await ask(CancelJob(command_id="", org_id=org, job_id=job, correlation_id=uuid7()), True)
            clicks = [f"{job}+{number}{click}" for click in "ab"[: self.random.choice((1, 2))]]
            asked = (self._resume(org, job, new, params, ask) for new in clicks)
            made = [new for new in await asyncio.gather(*asked) if new]
            if self.random.random() < 0.2:
                await ask(DeleteJob(command_id="", org_id=org, job_id=job), True)
                self.deleted[job] = org
            job = made[0] if made else job

    async def _resume(self, org: str, job: str, new: str, params: CountParams, ask: Ask) -> str:
        command = ResumeJob(command_id="", org_id=org, job_id=job, new=self._new(org, new, params))
        told = await ask(command, True)
        if isinstance(told, Done):
            self.accepted[new] = org
            return new
        if not (isinstance(told, Refused) and told.code in NOT_NOW):
            self.complaints.append(f"a resume of {job} was answered with {told}")
        return ""

    def _new(self, org: str, job: str, params: CountParams) -> NewJob:
        self.params[job] = params
        text = b"\0" + json.dumps({"input": msgspec.to_builtins(params)}).encode()
        return NewJob(job_id=job, private=self.vault.sealed((org, job), text))

    def verdict(self, partition: int, recorded: Sequence[Recorded]) -> Iterator[str]:
        """Yield what is wrong with the items of a partition: the log's rules, and what the chunks hold."""
        log = PartitionLog(partition)
        for each in recorded:
            if each.event.job_id:
                log.jobs.setdefault((each.event.org_id, each.event.job_id), []).append(each)
        yield from (str(fault) for fault in check_items(log))
        gone = {key for key, events in log.jobs.items() if any(isinstance(x.event, GONE) for x in events)}
        for key, events in log.jobs.items():
            if key not in gone and key[1] in self.params:
                yield from self._of_chunks(key, events, log.jobs)

    def _of_chunks(
        self, key: JobKey, events: Sequence[Recorded], jobs: Mapping[JobKey, Sequence[Recorded]]
    ) -> Iterator[str]:
        """Yield what is wrong with the results and outcomes of a job, read from the blobs of all its chain."""
        went_on = next((each.event for each in events if isinstance(each.event, e.JobContinued)), None)
        links = {link.job_id: (link.chunks, link.next_item) for link in went_on.adopts} if went_on else {}
        chunks = [
            (chunk, until)
            for job, (count, until) in [*links.items(), (key[1], (2**62, 2**62))]
            for each in jobs[key[0], job]
            if isinstance(chunk := each.event, e.ItemsRecorded) and chunk.chunk < count
        ]
        if not chunks:
            return
        params = self.params[went_on.chain_id if went_on else key[1]]
        rows: list[int] = []
        outcomes: list[tuple[int, str]] = []
        for chunk, until in chunks:
            data = self.blobs.blobs.get(chunk.items_ref)
            if data is None:
                yield f"{key}: chunk {chunk.items_ref} is gone"
                return
            rows += [msgspec.json.decode(line)["n"] for line in rows_part(data, chunk.rows_bytes)]
            told = map(msgspec.json.decode, outcomes_part(data, chunk.rows_bytes, chunk.outcomes_bytes))
            outcomes += [(each["item"], _how(each)) for each in told if each["item"] < until]
        last, until = chunks[-1]  # one that stopped before its first chunk has what it goes on from, and no more
        wanted = [(number, how_of(params, number)) for number in range(min(last.next_item, until))]
        if outcomes != wanted:
            yield f"{key}: outcomes {outcomes}, they should be {wanted}"
        if rows != (numbers := [number for number, how in wanted if how == "succeeded"]):
            yield f"{key}: results {rows}, they should be {numbers}"


GONE = (e.JobDeleted, e.JobExpired)


def _how(outcome: Mapping[str, Any]) -> str:
    error = outcome.get("error", "")
    return error if error == "not_started" else str(outcome["outcome"])


@dataclass
class Chains:
    """Which jobs go on from one another, as the log tells of it, and whose results are kept."""

    first: dict[JobKey, str] = field(default_factory=dict)  # job -> the first of its chain
    kept: defaultdict[JobKey, set[str]] = field(default_factory=lambda: defaultdict(set))  # first -> its jobs

    def see(self, event: e.AnyEvent) -> None:
        """Go on by one event."""
        if isinstance(event, e.JobContinued):
            chain = self.kept[event.org_id, event.chain_id]
            for job in (event.source_job_id, event.job_id):
                self.first[event.org_id, job] = event.chain_id
                chain.add(job)
        elif isinstance(event, GONE):
            key = (event.org_id, event.job_id)
            self.kept[event.org_id, self.first.get(key, event.job_id)].discard(event.job_id)

    def unwanted(self, key: JobKey, blobs: Sequence[str]) -> list[str]:
        """Return those blobs of a job that is gone which no other job of its chain refers to."""
        if not self.kept.get(key):
            return list(blobs)
        return [blob for blob in blobs if f"/{ITEMS}" not in blob]
