"""The whole platform as tasks of one process: API, decider, projection, a worker, and writers; and a site to fetch."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp
from aiohttp import web

from api.compose import serving
from projections.__main__ import main as project
from services.decider.__main__ import main as decide
from services.runtime.admin import ensure_topics
from services.runtime.networks import LOCAL
from services.runtime.sealing import new_key
from services.runtime.settings import Settings
from services.workers.__main__ import main as work
from services.writers.__main__ import main as write
from tests.eventually import eventually
from tests.integration.junk.consumers import Main, running
from tests.receiver import Receiver, receiving
from tests.unit.workers.fakes import GOOD

OPERATOR = "operator-key-of-the-tests"
SECONDS = 60.0


@dataclass
class Platform:
    """What a test sees of it."""

    settings: Settings
    site: Receiver
    client: aiohttp.ClientSession  # with the key of the org `acme`
    key: str
    heard: list[bytes] = field(default_factory=list)  # bodies and headers of every answer

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Make a call of the API and return status and JSON."""
        sent = {} if body is None else {"json": body}
        async with self.client.request(method, path, headers=headers, **sent) as answer:
            self.heard.append(await answer.read() + repr(dict(answer.headers)).encode())
            return answer.status, await answer.json() if answer.content_type == "application/json" else None

    async def made(self, path: str, body: Any, expected: int = 201) -> Any:
        """Make something and return what the API says of it; what it shows this once is not among what was heard."""
        status, json = await self.call("POST", path, body)
        assert status == expected, json
        self.heard.pop()
        return json

    async def submit(self, path: str = "/p/1", **more: Any) -> str:
        """Submit a job for a path of the site."""
        status, json = await self.call("POST", "/api/v1/jobs", {"url": self.site.url + path, **more})
        assert status == 201, json
        return str(json["jobId"])

    async def job(self, job_id: str) -> Any:
        """Return a job as the API shows it."""
        status, json = await self.call("GET", f"/api/v1/jobs/{job_id}")
        assert status == 200, json
        return json

    async def until(self, job_id: str, status: str) -> Any:
        """Wait until a job is in a status, and return it."""

        async def there() -> bool:
            return bool((await self.job(job_id))["status"] == status)

        await eventually(there, SECONDS)
        return await self.job(job_id)


@asynccontextmanager
async def platform(settings: Settings, workflow: Any, **writers: Settings) -> AsyncIterator[Platform]:
    """Run all of it, with a writer of each kind that has its settings here, which may lead it astray."""
    keys = settings.credentials_key or new_key()
    settings = replace(settings, operator_key=OPERATOR, credentials_key=keys, allowed_networks=LOCAL)
    settings = replace(settings, host="127.0.0.1", port=0)
    await asyncio.to_thread(ensure_topics, settings)
    processes: list[tuple[Main, Settings]] = [(decide, settings), (project, settings), (work, settings)]
    for kind, own in writers.items():
        theirs = replace(own, writer_kind=kind, operator_key="", credentials_key=keys, allowed_networks=LOCAL, port=0)
        processes.append((write, theirs))
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(receiving())
        site.default = good_page
        for main, own in processes:
            await stack.enter_async_context(running(main, own))
        api = await stack.enter_async_context(serving(settings))
        url = f"http://127.0.0.1:{api.port}"
        async with (
            aiohttp.ClientSession(url, headers={"Authorization": f"Bearer {OPERATOR}"}) as operator,
            operator.post("/api/v1/orgs", json={"orgId": "acme", "name": "Acme", "plan": "bi"}) as made,
        ):
            key = (await made.json())["key"]["secret"]
        client = await stack.enter_async_context(aiohttp.ClientSession(url, headers={"Authorization": f"Bearer {key}"}))
        made_of = Platform(settings, site, client, key)
        await made_of.made("/api/v1/workflows", {"workflowId": "w", "document": workflow, "publish": True})
        yield made_of


async def good_page(_got: object) -> web.Response:
    """Answer with a page that an extractor can read."""
    return web.Response(body=GOOD, content_type="text/html", charset="utf-8")


class Road:
    """A TCP road to a server, which can be closed and opened again."""

    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self.open = False
        self.port = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def laid(self) -> AsyncIterator["Road"]:
        """Listen while the block runs."""
        server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.open:
            writer.close()
            return
        there, back = await asyncio.open_connection(*self._target)
        for source, sink in ((reader, back), (there, writer)):
            task = asyncio.create_task(_copy(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with closing(sink):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
