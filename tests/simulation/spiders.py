"""Spider jobs of some seeds: runs that scrape numbers, customers who stop and delete them, and what comes of it."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import msgspec

from schemas import events as e
from schemas.private import private_bytes
from schemas.recorded import Recorded
from schemas.values import Destination, ReleaseReason, Vocabulary
from services.ledger.commands import AnyCommand, CancelJob, DeleteJob, NewJob, SubmitJobs
from services.ledger.replies import Answer, Done, Granted, Refused
from services.ledger.reports import Chunk, Extracted, Failed, ItemsReport, Logged, Stats
from services.ledger.tasks import Task
from services.runtime.blob import JobKey, blob_key
from services.runtime.errors import BlobFault
from services.runtime.ids import uuid7
from services.runtime.item_chunks import chunk_key, packed, packed_lines, rows_part
from services.runtime.item_manifest import Manifest, StoredChunk, manifest_key, manifest_of, packed_manifest
from services.runtime.settings import Settings
from services.workers.attempt import Report
from services.workers.process import work
from tests.simulation.houses import KIND as HOUSE
from tests.simulation.houses import OWN
from tests.simulation.modules import GONE
from tests.simulation.places import IN_CLICKHOUSE, PLACES
from tests.simulation.site import Site
from tests.simulation.stores import Blobs
from tests.simulation.vault import Vault

CHANCE = 0.35  # of all seeds
KIND = "spider"
AGAIN_SECONDS = 0.5  # behind a blob store that does not answer
PIECE_BYTES = 60  # of a block of a customer's warehouse: a few items
NOT_NOW = ("queue_full", "quota_exhausted")
Ask = Callable[[AnyCommand, bool], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Crawl:
    """How many items come of a run, so many in a chunk; seconds that one takes; how it ends, empty: well."""

    items: int
    in_chunk: int
    seconds: float
    ends: str


@dataclass
class Spiders:
    """The customers of spider jobs; only in some seeds, and from numbers of their own: no other seed changes by it."""

    seed: int
    blobs: Blobs
    vault: Vault
    housed: Sequence[str]  # orgs that have a warehouse of their own
    accepted: dict[str, str]  # job -> org
    deleted: dict[str, str]
    random: Random = field(init=False)
    active: bool = field(init=False)
    crawls: dict[str, Crawl] = field(default_factory=dict)
    begun: Counter[str] = field(default_factory=Counter)  # how many times the spider of a job was let loose
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(f"spiders {self.seed}")  # repeatable on purpose
        self.active = self.random.random() < CHANCE

    async def customer(self, org: str, ask: Ask) -> None:
        """Submit a job or two; stop, delete."""
        for number in range(self.random.choice((1, 2, 3))):
            await asyncio.sleep(self.random.uniform(0.0, 4.0))
            job = f"{org}-crawl-{number}"
            self.crawls[job] = Crawl(
                items=self.random.choice((0, 1, 7, 30)),
                in_chunk=self.random.choice((1, 4, 10)),
                seconds=self.random.choice((0.01, 0.1, 0.4)),
                ends=self.random.choice(("", "", "", "no_successful_request")),
            )
            told = await ask(self._submit(org, job), True)
            if isinstance(told, Done):
                self.accepted[job] = org
                await self._meddle(org, job, ask)
            elif not (isinstance(told, Refused) and told.code in NOT_NOW):
                self.complaints.append(f"a spider job of {org} was answered with {told}")

    def _submit(self, org: str, job: str) -> SubmitJobs:
        own = (Destination(destination_id=OWN, kind=HOUSE, gating=False),) if org in self.housed else ()
        ours = tuple(msgspec.structs.replace(each, gating=False) for each in (PLACES[0], IN_CLICKHOUSE))
        text = b"\0" + json.dumps({"input": {"project": "shop", "spiders": ["numbers"]}}).encode()
        return SubmitJobs(
            command_id="",
            org_id=org,
            jobs=(NewJob(job_id=job, private=self.vault.sealed((org, job), text)),),
            vocabulary=Vocabulary.SPIDER,
            workflow_id="shop",
            workflow_ref="deploys/shop/1",
            destinations=(*own, *ours[: self.random.choice((0, 1, 2))]),
            max_run_seconds=self.random.choice((0, 5, 60)),
            idempotency_digest=job.encode().ljust(16)[:16],
        )

    async def _meddle(self, org: str, job: str, ask: Ask) -> None:
        await asyncio.sleep(self.random.uniform(0.2, 5.0))
        if self.random.random() < 0.25:
            await ask(CancelJob(command_id="", org_id=org, job_id=job, correlation_id=uuid7()), True)
        if self.random.random() < 0.2:
            await ask(DeleteJob(command_id="", org_id=org, job_id=job), True)
            self.deleted[job] = org

    async def run(self, settings: Settings, site: Site) -> None:
        """Be a worker process of spider jobs: everything of it but its child is production code."""
        await work(settings, KIND, lambda _tools, _store: self._attempt, lambda *_: site)  # type: ignore[arg-type]

    async def _attempt(self, task: Task, granted: Granted) -> AsyncGenerator[Report]:
        """Say that the spider is let loose, then what it scrapes; as the runner does."""
        run = Run(self.crawls[task.job_id], self.blobs, task, granted.attempt)
        yield Report(items=(await run.said("let loose"),))
        self.begun[task.job_id] += 1
        async for parts in run.scraped():
            yield Report(items=parts)
        last = Stats(
            number=run.counted, scraped=run.items, final=True, private=private_bytes({"finish_reason": "finished"})
        )
        if run.crawl.ends:
            yield Report(items=(last,), outcome=Failed(error_type=run.crawl.ends))
        else:
            yield Report(
                items=(last,), outcome=Extracted(result_ref="", items=run.items, extraction_ref=await run.listed())
            )

    def verdict(self, recorded: Sequence[Recorded]) -> Iterator[str]:
        """Yield what is wrong with the spider jobs of a partition: how often they ran, and what their chunks hold."""
        jobs: dict[JobKey, list[e.AnyEvent]] = {}
        for each in recorded:
            if each.event.job_id in self.crawls:
                jobs.setdefault((each.event.org_id, each.event.job_id), []).append(each.event)
        for key, events in jobs.items():
            if self.begun[key[1]] > 1:
                yield f"{key}: its spider was let loose {self.begun[key[1]]} times"
            if any(isinstance(x, e.JobReleased) and x.reason is ReleaseReason.LEASE_EXPIRED for x in events):
                yield f"{key}: its worker was lost, and it went back to its queue"
            if not any(isinstance(each, GONE) for each in events):
                yield from self._of_chunks(key, events)

    def _of_chunks(self, key: JobKey, events: Sequence[e.AnyEvent]) -> Iterator[str]:
        chunks = [each for each in events if isinstance(each, e.ItemsRecorded)]
        rows: list[int] = []
        for chunk in chunks:
            data = self.blobs.blobs.get(chunk.items_ref)
            if data is None:
                yield f"{key}: chunk {chunk.items_ref} is gone"
                return
            rows += [msgspec.json.decode(line)["n"] for line in rows_part(data, chunk.rows_bytes)]
        if rows != list(range(len(rows))):
            yield f"{key}: items {rows}, they should be the first numbers"
        extracted = next((each for each in events if isinstance(each, e.JobExtracted)), None)
        if extracted is None:
            return
        wanted = self.crawls[key[1]].items
        if (len(rows), extracted.items) != (wanted, wanted):
            yield f"{key}: {len(rows)} items are recorded, {extracted.items} reported, {wanted} were scraped"
        manifest = manifest_of(self.blobs.blobs.get(extracted.extraction_ref, b""))
        listed = [(each.key, each.rows, each.rows_bytes) for each in manifest.chunks]
        if listed != [(each.items_ref, each.rows, each.rows_bytes) for each in chunks]:
            yield f"{key}: its manifest lists {listed}, recorded is {chunks}"


@dataclass
class Run:
    """One run of a spider, as its worker has it."""

    crawl: Crawl
    blobs: Blobs
    task: Task
    attempt: int
    items: int = 0
    chunks: list[StoredChunk] = field(default_factory=list)
    lines: int = 0  # reports of lines
    counted: int = 0  # reports of statistics

    async def said(self, message: str) -> Logged:
        """Store a line, and return what is told of it."""
        data = packed_lines([json.dumps({"level": "info", "message": message}).encode()])
        key = blob_key(self.task.org_id, self.task.job_id, self.attempt, f"log-{self.lines}")
        await self._put(key, data)
        self.lines += 1
        levels = (0, 1, 0, 0, 0)
        return Logged(number=self.lines - 1, lines=1, private=b"", lines_ref=key, lines_bytes=len(data), levels=levels)

    async def scraped(self) -> AsyncGenerator[tuple[ItemsReport, ...]]:
        """Yield what is told, chunk by chunk."""
        while self.items < self.crawl.items:
            numbers = range(self.items, min(self.items + self.crawl.in_chunk, self.crawl.items))
            await asyncio.sleep(self.crawl.seconds * len(numbers))
            chunk = await self._chunk(numbers)
            if len(self.chunks) % 3:
                yield (chunk,)
            else:
                yield (chunk, await self.said(f"at {self.items}"), self._stats())

    async def listed(self) -> str:
        """Store the manifest and return its key."""
        data = packed_manifest(Manifest(tuple(self.chunks)))
        key = manifest_key(self.task.org_id, self.task.job_id, self.attempt, data)
        await self._put(key, data)
        return key

    async def _chunk(self, numbers: range) -> Chunk:
        lines = [json.dumps({"n": number}).encode() for number in numbers]
        parts = packed(lines, (), b"")
        key = chunk_key(self.task.org_id, self.task.job_id, 1, self.attempt, len(self.chunks))
        await self._put(key, parts.data)
        told = Chunk(
            chunk=len(self.chunks),
            items_ref=key,
            rows_bytes=parts.rows_bytes,
            outcomes_bytes=0,
            stats_bytes=0,
            digest=parts.digest,
            first_item=numbers.start,
            next_item=numbers.stop,
            rows=len(numbers),
            errors=0,
            resume_item=numbers.stop,
        )
        self.chunks.append(StoredChunk(key, len(numbers), parts.rows_bytes, sum(map(len, lines))))
        self.items = numbers.stop
        return told

    def _stats(self) -> Stats:
        self.counted += 1
        private = private_bytes({"item_scraped_count": self.items})
        return Stats(number=self.counted - 1, scraped=self.items, final=False, private=private)

    async def _put(self, key: str, data: bytes) -> None:
        while True:
            try:
                return await self.blobs.put(key, data)
            except BlobFault:
                await asyncio.sleep(AGAIN_SECONDS)
