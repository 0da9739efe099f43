"""Short fakes of what a worker talks to: the ledger, the blob store, a provider; and a workflow to walk."""

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from schemas.values import Vocabulary
from services.ledger.commands import AnyCommand, ReportProgress
from services.ledger.replies import Done, Granted, Reply
from services.ledger.tasks import Resume, Task
from services.runtime.commander import Unasked
from services.runtime.errors import BlobMissing
from services.workers.providers.protocol import Fetched, FetchRequest, FetchResult, ProviderError

ORG, JOB, WORKFLOW_REF = "org-1", "job-1", "workflows/w1"
GOOD = b"<html><head><title>Lamp</title></head><body><h1>Lamp</h1><p class=price>12.50 EUR</p>%s</body></html>" % (
    b"<p>A lamp of brass and glass, made by hand, with a cable of three metres and a warm light.</p>" * 5
)
Answer = Callable[[AnyCommand], Any]


class MemoryBlobs:
    """Blobs in a dictionary."""

    def __init__(self, blobs: Mapping[str, bytes] | None = None) -> None:
        self.blobs = dict(blobs or {})
        self.broken: Exception | None = None

    async def put(self, key: str, data: bytes) -> None:
        """Keep a blob."""
        if self.broken:
            raise self.broken
        self.blobs[key] = data

    async def get(self, key: str) -> bytes:
        """Return a blob."""
        if self.broken:
            raise self.broken
        if key not in self.blobs:
            raise BlobMissing(key)
        return self.blobs[key]

    async def first(self, key: str, length: int) -> bytes:
        """Return the beginning of a blob."""
        return (await self.get(key))[:length]

    async def get_each(self, keys: Sequence[str]) -> list[bytes | Exception]:
        """Return blobs in the order of their keys."""
        return [self.broken or self.blobs.get(key) or BlobMissing(key) for key in keys]

    def key(self, beginning: str) -> str:
        """Return the key of the one blob whose key begins so."""
        [found] = [key for key in self.blobs if key.startswith(beginning)]
        return found

    async def delete_job(self, org_id: str, job_id: str, spared: str = "") -> None:
        """Remove every blob of a job."""
        if self.broken:
            raise self.broken
        prefix = f"{org_id}/{job_id}/"
        gone = [key for key in self.blobs if key.startswith(prefix) and not (spared and f"/{spared}" in key)]
        for key in gone:
            del self.blobs[key]


class MemoryLedger:
    """Answers commands by a function and remembers all it was told."""

    boot_id = "boot-1"

    def __init__(self, answer: Answer = lambda _command: Done()) -> None:
        self.answer = answer
        self.told: list[AnyCommand] = []
        self.partitions: list[int] = []
        self.heard = asyncio.Condition()
        self.unasked: list[Unasked] = []
        self.position = 1

    async def tell(self, partition: int, command: AnyCommand) -> None:
        """Remember a command."""
        async with self.heard:
            self.told.append(command)
            self.partitions.append(partition)
            self.heard.notify_all()

    async def ask(
        self,
        partition: int,
        command: AnyCommand,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Reply:
        """Remember a command and answer it; an exception as answer is raised."""
        await self.tell(partition, command)
        body = self.answer(command)
        if inspect.isawaitable(body):
            body = await body
        if isinstance(body, Exception):
            raise body
        return Reply(command_id=command.command_id, requester=self.boot_id, body=body, position=self.position)

    def on_unasked(self, callback: Unasked) -> None:
        """Keep a callback; tests call it."""
        self.unasked.append(callback)

    def reports(self) -> list[ReportProgress]:
        """Return the reports told so far."""
        return [command for command in self.told if isinstance(command, ReportProgress)]

    async def until(self, condition: Callable[[], object], seconds: float = 5.0) -> None:
        """Wait until something told makes a condition true."""
        async with asyncio.timeout(seconds), self.heard:
            await self.heard.wait_for(condition)


class ScriptedProvider:
    """Gives one answer after the other; None: it never answers."""

    def __init__(self, *answers: FetchResult | Exception | None) -> None:
        self.answers = list(answers)
        self.calls: list[FetchRequest] = []
        self.called = asyncio.Event()

    async def start(self) -> None:
        """Need nothing."""

    async def close(self) -> None:
        """Hold nothing."""

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Answer as scripted."""
        self.calls.append(request)
        self.called.set()
        answer = self.answers.pop(0)
        if answer is None:
            await asyncio.Event().wait()
        if isinstance(answer, Exception):
            raise answer
        assert answer is not None
        return answer


class OneProvider:
    """Every name is this provider."""

    def __init__(self, provider: ScriptedProvider) -> None:
        self._provider = provider

    def provider(self, name: str) -> ScriptedProvider:
        """Return it."""
        return self._provider


def page(body: bytes = GOOD, status: int = 200) -> Fetched:
    """Return a fetched HTML page."""
    return Fetched(status, "text/html; charset=utf-8", body, "http://shop.example/final", 7)


def broken(retry_after: float | None = None) -> ProviderError:
    """Return a provider's answer that may be tried again."""
    return ProviderError("http_5xx", "the site answered 503", True, 503, retry_after)


def service(node_id: str, **settings: Any) -> dict[str, Any]:
    """Return a service node."""
    return {"kind": "service", "id": node_id, "settings": settings}


FIELDS: tuple[dict[str, Any], ...] = (
    {"name": "name", "query": "h1", "required": True},
    {"name": "price", "query": ".price", "type": "money"},
)


def workflow(*services: dict[str, Any], fields: Sequence[dict[str, Any]] = FIELDS) -> bytes:
    """Return a document: entry, each service falling back to the next, extractor, warehouse, result; failed."""
    services = services or (service("a"),)
    names = [node["id"] for node in services]
    nodes = [
        {"kind": "entry", "id": "in"},
        *services,
        {"kind": "extractor", "id": "read", "settings": {"fields": list(fields), "schemaId": "product"}},
        {"kind": "warehouse", "id": "store"},
        {"kind": "result", "id": "out"},
        {"kind": "failed", "id": "bad"},
    ]
    edges = [
        {"source": "in", "target": names[0]},
        *({"source": name, "target": "read", "on": "success"} for name in names),
        *({"source": a, "target": b, "on": "fail"} for a, b in zip(names, [*names[1:], "bad"], strict=True)),
        {"source": "read", "target": "store", "on": "success"},
        {"source": "read", "target": "bad", "on": "fail"},
        {"source": "store", "target": "out"},
    ]
    return json.dumps({"name": "w", "nodes": nodes, "edges": edges}).encode()


def task(job_id: str = JOB, partition: int = 3, url: str = "http://shop.example/p/1") -> Task:
    """Return a task for a job."""
    return Task(
        org_id=ORG,
        job_id=job_id,
        partition=partition,
        dispatch=1,
        vocabulary=Vocabulary.WORKFLOW,
        workflow_ref=WORKFLOW_REF,
        private=b"\0" + json.dumps({"url": url, "input": None}).encode(),
    )


def granted(attempt: int = 1, **resume: Any) -> Granted:
    """Return a grant."""
    return Granted(attempt=attempt, resume=Resume(**resume))
