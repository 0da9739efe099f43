"""An API over a real socket, real Postgres and a pocket ledger."""

import io
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import aiohttp
import msgspec
import pytest
from aiohttp import web
from multidict import CIMultiDict
from psycopg_pool import AsyncConnectionPool

from api.auth import Keyring
from api.compose import tended
from api.config import keys
from api.config.store import Pool
from api.failures import Failures
from api.fires import Fires
from api.history import History
from api.http import app_of
from api.limits import Limiter
from api.lookup import Jobs
from api.parts import Parts
from api.routes.all import OPERATIONS
from api.server import Runner
from api.streams import Streams
from api.tail import Tail
from api.usage import UsageOfOrgs
from projections.postgres.read import ReadModel
from services.runtime.blob import BlobStore
from services.runtime.health import Health
from services.runtime.sealing import new_key
from services.runtime.settings import Settings
from services.runtime.shredding.store import JobKeys
from services.runtime.shredding.vault import Vault
from tests.integration.api.pocket import PocketFeed, PocketLedger

OPERATOR = "operator-key-of-the-tests"
WORKFLOW = {
    "name": "products",
    "nodes": [
        {"id": "start", "kind": "entry"},
        {"id": "fetch", "kind": "service"},
        {"id": "store", "kind": "warehouse"},
        {"id": "lost", "kind": "failed"},
    ],
    "edges": [
        {"source": "start", "target": "fetch"},
        {"source": "fetch", "target": "store", "on": "success"},
        {"source": "fetch", "target": "lost", "on": "fail"},
    ],
}


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, read whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    json: Any


@dataclass(frozen=True, slots=True)
class Api:
    """One running instance, and how to call it."""

    url: str
    feed: PocketFeed
    tail: Tail
    streams: Streams
    session: aiohttp.ClientSession
    runner: Runner

    def connections(self) -> int:
        """How many connections the server has."""
        assert self.runner.server
        return len(self.runner.server.connections)

    async def call(self, method: str, path: str, key: str = "", body: Any = None, **options: Any) -> Answered:
        """Make a call; `body` bytes, also in chunks, are sent as they are, anything else as JSON."""
        headers = CIMultiDict({"Authorization": f"Bearer {key}"} if key else {})
        headers.update(options.pop("headers", {}))
        sent: AsyncIterator[bytes] | io.BytesIO | None
        if body is None or isinstance(body, AsyncIterator):
            sent = body
        else:
            sent = io.BytesIO(body if isinstance(body, bytes) else msgspec.json.encode(body))
        async with self.session.request(method, self.url + path, headers=headers, data=sent, **options) as answer:
            data = await answer.read()
            json = await answer.json() if answer.content_type == "application/json" else None
            return Answered(answer.status, answer.headers, data, json)


@dataclass(frozen=True, slots=True)
class Tenant:
    """A registered org with a key of every scope and a published workflow."""

    org_id: str
    partition: int
    key: str


class StartApi(Protocol):
    """Starts one more API instance on the same ledger and Postgres."""

    def __call__(self) -> AbstractAsyncContextManager[Api]:
        """Return the instance, to be entered."""


@pytest.fixture
def with_operator(settings: Settings) -> Settings:
    """The settings of the API under test, with its keys and a ClickHouse, which the API never calls."""
    keys = new_key()
    return replace(settings, operator_key=OPERATOR, credentials_key=keys, clickhouse="http://127.0.0.1:9/jobledger")


@pytest.fixture
def pocket(with_operator: Settings) -> Iterator[PocketLedger]:
    """The ledger that all instances of a test share."""
    ledger = PocketLedger(with_operator.partitions, with_operator.postgres, with_operator.credentials_key)
    yield ledger
    ledger.close()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    """One HTTP client."""
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
def start_api(with_operator: Settings, pocket: PocketLedger, session: aiohttp.ClientSession) -> StartApi:
    """Start as many instances as a test wants."""
    return lambda: running(with_operator, pocket, session)


@pytest.fixture
async def api(start_api: StartApi) -> AsyncIterator[Api]:
    """One running instance."""
    async with start_api() as api:
        yield api


@pytest.fixture
async def acme(api: Api) -> Tenant:
    """An org."""
    return await make_tenant(api, "acme")


@pytest.fixture
async def rival(api: Api) -> Tenant:
    """Another org."""
    return await make_tenant(api, "rival")


async def make_tenant(api: Api, org_id: str) -> Tenant:
    """Register an org and publish a workflow for it."""
    made = await api.call("POST", "/api/v1/orgs", OPERATOR, {"orgId": org_id, "name": org_id.title(), "plan": "bi"})
    assert made.status == 201, made.json
    tenant = Tenant(org_id, made.json["partition"], made.json["key"]["secret"])
    body = {"workflowId": "products", "document": WORKFLOW, "publish": True}
    saved = await api.call("POST", "/api/v1/workflows", tenant.key, body)
    assert saved.status == 201, saved.json
    return tenant


async def submit(api: Api, tenant: Tenant, url: str = "https://shop.example/1", **more: Any) -> str:
    """Submit one job and return its id."""
    made = await api.call("POST", "/api/v1/jobs", tenant.key, {"url": url, **more})
    assert made.status == 201, made.json
    return str(made.json["jobId"])


@asynccontextmanager
async def running(settings: Settings, pocket: PocketLedger, session: aiohttp.ClientSession) -> AsyncIterator[Api]:
    """Serve while the block runs."""
    async with AsyncExitStack() as stack:
        pool: Pool = AsyncConnectionPool(settings.postgres, min_size=1, max_size=4, open=False)
        await stack.enter_async_context(pool)
        model = await stack.enter_async_context(ReadModel(settings.postgres, 4))
        feed = PocketFeed(pocket)

        async def end_of(partition: int) -> int:
            return pocket.end_of(partition)

        async def folded() -> dict[int, int]:
            return {partition: row.position for partition, row in (await model.checkpoints()).items()}

        async def ends() -> dict[int, int]:
            return {partition: pocket.end_of(partition) for partition in range(settings.partitions)}

        tail = Tail(feed, end_of, folded)
        stack.callback(tail.close)
        job_keys = JobKeys(pool, Vault(settings.credentials_key))
        jobs = Jobs(model, tail, job_keys)
        keyring = Keyring(
            lambda key_id: keys.grant_of(pool, key_id),
            settings.operator_key,
            lambda grant: keys.used(pool, grant),
            failures=Failures(settings.failed_calls_per_second),
        )
        parts = Parts(
            settings=settings,
            pool=pool,
            keyring=keyring,
            limiter=Limiter(settings.calls_per_second),
            commander=pocket,
            keys=job_keys,
            jobs=jobs,
            fires=Fires(model),
            usage=UsageOfOrgs(model),
            history=History(jobs, pocket, job_keys),
            streams=Streams(jobs, tail, keyring, settings),
            blobs=BlobStore(settings.blobs),
            health=Health("api"),
        )
        await stack.enter_async_context(tended(parts, tail, ends))
        runner = Runner(app_of(parts, OPERATIONS), access_log=None)
        stack.push_async_callback(runner.cleanup)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield Api(f"http://127.0.0.1:{runner.addresses[0][1]}", feed, tail, parts.streams, session, runner)
