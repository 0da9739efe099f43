"""A small module, its attempts against the rules of the ledger, and what is in the blob store when they are over."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Struct

from schemas.events import AnyEvent
from schemas.item_events import ItemsRecorded, JobContinued
from schemas.private import private_bytes
from services.ledger.commands import NewJob
from services.ledger.replies import Granted
from services.runtime.item_chunks import outcomes_part, rows_part
from services.workers.attempt import Report
from services.workers.modules.attempt import attempts
from services.workers.modules.protocol import Item, Limits, Module, Outcome, Tools
from services.workers.steps import Tools as StepTools
from tests.unit.ledger.modules import submit, tell
from tests.unit.ledger.world import World
from tests.unit.workers.fakes import MemoryBlobs, OneProvider, ScriptedProvider


class CountParams(Struct):
    """How many items there are, and which of them fail or are never started."""

    items: int = 10
    failing: tuple[int, ...] = ()
    skipped: tuple[int, ...] = ()


@dataclass
class Count:
    """Yields one result for each item: its number."""

    name: str = "count"
    params: type[Struct] = CountParams
    limits: Limits = field(default_factory=Limits)
    item_credits: int = 1
    stops_before: int = -1  # it never gets to this item: it waits for ever
    breaks_before: int = -1
    says_both_at: int = -1  # results, and an error
    worked_at: list[int] = field(default_factory=list)

    def faults(self, params: CountParams) -> list[str]:
        """Find nothing wrong."""
        return []

    async def plan(self, params: CountParams, tools: Tools) -> AsyncIterator[Mapping[str, Any]]:
        """Yield numbers, with a query each and one of two zones."""
        for number in range(params.items):
            yield {"n": number, "query": f"q{number}", "zone": f"z{number % 2}"}

    async def run(self, params: CountParams, items: Sequence[Item], tools: Tools) -> AsyncGenerator[Outcome]:
        """Yield outcomes."""
        for item in items:
            if item.number == self.stops_before:
                await asyncio.Event().wait()
            if item.number == self.breaks_before:
                raise RuntimeError("broken here")
            if item.value["n"] in params.skipped:
                continue
            self.worked_at.append(item.number)
            if item.number == self.says_both_at:
                yield Outcome(item.number, rows=[{"n": item.value["n"]}], error="http_4xx")
                continue
            if item.value["n"] in params.failing:
                yield Outcome(item.number, error="http_4xx", message="no such page")
            else:
                tools.log("info", f"at {item.number}")
                yield Outcome(item.number, rows=[{"n": item.value["n"]}])


class NoOthers:
    """No other job has results."""

    async def of(self, org_id: str, job_id: str) -> AsyncIterator[bytes]:
        """Yield nothing."""
        nothing: tuple[bytes, ...] = ()
        for each in nothing:
            yield each


@dataclass
class Shop:
    """A ledger, blobs, and workers that run modules."""

    module: Module = field(default_factory=Count)
    world: World = field(default_factory=lambda: World().org(cap=50))
    blobs: MemoryBlobs = field(default_factory=MemoryBlobs)
    boots: int = 0
    name: str = "count"  # of the only module that workers have

    def submit(self, job_id: str = "j1", **params: object) -> None:
        """Submit a job."""
        new = NewJob(job_id=job_id, private=private_bytes({"input": params}))
        submit(self.world, job_id, jobs=(new,), workflow_id="count")

    async def run(self, job_id: str = "j1", reports: int = 1_000, *, lose_last: bool = False) -> list[AnyEvent]:
        """Let a worker claim a job and work until it has told so many reports; return the events of those."""
        self.boots += 1
        boot = f"boot-{self.boots}"
        self.world.claim(job_id, boot=boot)
        granted = self.world.reply
        assert isinstance(granted, Granted)
        task = next(task for task in reversed(self.world.sent.tasks) if task.job_id == job_id)
        told: list[AnyEvent] = []
        tools = StepTools(OneProvider(ScriptedProvider()), self.blobs)
        attempt = attempts(tools, NoOthers(), {self.name: self.module}, task, granted)
        async with contextlib.aclosing(attempt) as working:
            async for report in working:
                reports -= 1
                if not reports and lose_last:
                    break
                told += self.tell(job_id, boot, granted.attempt, report)
                if not reports:
                    break
        return told

    def tell(self, job_id: str, boot: str, attempt: int, report: Report) -> list[AnyEvent]:
        """Tell the ledger a report."""
        return tell(self.world, *report.items, outcome=report.outcome, job_id=job_id, attempt=attempt, boot=boot)

    def lose(self) -> None:
        """Lose the worker that claimed last."""
        self.world.lose(f"boot-{self.boots}")
        self.world.after(0)

    def chunks(self, job_id: str) -> list[ItemsRecorded]:
        """Return the chunks that a job has, adopted ones first."""
        events = [each.event for each in self.world.seen]
        adopts = next((e.adopts for e in events if isinstance(e, JobContinued) and e.job_id == job_id), ())
        recorded = [event for event in events if isinstance(event, ItemsRecorded)]
        adopted = [
            chunk for link in adopts for chunk in recorded if chunk.job_id == link.job_id and chunk.chunk < link.chunks
        ]
        return [*adopted, *(chunk for chunk in recorded if chunk.job_id == job_id)]

    def numbers(self, job_id: str = "j1") -> list[int]:
        """Return the results of a job, in their order."""
        return [
            msgspec.json.decode(line)["n"]
            for chunk in self.chunks(job_id)
            for line in rows_part(self.blobs.blobs[chunk.items_ref], chunk.rows_bytes)
        ]

    def outcomes(self, job_id: str = "j1") -> list[dict[str, Any]]:
        """Return the outcomes of the chunks that a job itself recorded."""
        return [
            msgspec.json.decode(line)
            for chunk in self.chunks(job_id)
            if chunk.job_id == job_id
            for line in outcomes_part(self.blobs.blobs[chunk.items_ref], chunk.rows_bytes, chunk.outcomes_bytes)
        ]
