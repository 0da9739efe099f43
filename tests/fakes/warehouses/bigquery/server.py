"""The REST API: routes, errors as they are documented, and switches that make it fail."""

import itertools
import re
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import web

from tests.fakes.warehouses.bigquery.engine import Engine
from tests.fakes.warehouses.bigquery.jobs import Ended, ended_job
from tests.fakes.warehouses.bigquery.limits import Limits
from tests.fakes.warehouses.bigquery.shapes import Field, Job, Reference, Schema, Table, TablePatch
from tests.fakes.warehouses.bigquery.tokens import TokenPlace

PROJECT, DATASET, LOCATION = "acme-warehouse", "jobs", "europe-west1"
JOB_ID = re.compile(r"[A-Za-z0-9_-]{1,1024}")
LEGACY = {"INT64": "INTEGER", "FLOAT64": "FLOAT", "BOOL": "BOOLEAN"}  # how the API names types
STATUSES = {
    "accessDenied": 403,
    "authError": 401,
    "backendError": 503,
    "conditionNotMet": 412,
    "duplicate": 409,
    "invalid": 400,
    "notFound": 404,
    "quotaExceeded": 403,
    "rateLimitExceeded": 403,
}
# What may be switched on for the next call of a name: a reason of STATUSES; `lost`: it is done, and the connection cut;
# `job:<reason>`: the job ends with it.
LOST = "lost"
# How a call is answered, given the reason that the job which it begins is to end with.
Answering = Callable[[web.Request, str], Awaitable[web.Response]]


class Said(Exception):
    """An answer that is an error."""

    def __init__(self, reason: str, message: str = "") -> None:
        super().__init__(message or reason)
        self.reason = reason


class FakeBigQuery:
    """One project with one dataset."""

    def __init__(self) -> None:
        self.tokens = TokenPlace()
        self.engine = Engine(PROJECT)
        self.engine.make_dataset(DATASET)
        self.tables: dict[str, tuple[Table, int, int]] = {}  # with when it was made, and how often it was changed
        self.jobs: dict[str, Ended] = {}
        self.looks = 0  # at a job that runs, before it has ended
        self.calls: list[str] = []
        self.limits = Limits()
        self.faults: defaultdict[str, deque[str]] = defaultdict(deque)
        self.url = ""
        self._uploads: dict[str, Job] = {}
        self._ids = itertools.count(1)

    @property
    def loads(self) -> int:
        """How many load jobs there were, good and bad ones."""
        return sum(1 for job in self.jobs.values() if job.what.configuration.load)

    def routes(self) -> list[web.RouteDef]:
        """The calls that are known."""
        project = f"/bigquery/v2/projects/{PROJECT}"
        tables = f"{project}/datasets/{{dataset}}/tables"
        return [
            web.post("/token", self.tokens.give),
            web.get(f"{tables}/{{table}}", self._call("tables.get", self._get_table)),
            web.post(tables, self._call("tables.insert", self._insert_table)),
            web.patch(f"{tables}/{{table}}", self._call("tables.patch", self._patch_table)),
            web.delete(f"{tables}/{{table}}", self._call("tables.delete", self._delete_table)),
            web.post(f"{project}/jobs", self._call("jobs.query", self._insert_query)),
            web.get(f"{project}/jobs/{{job}}", self._call("jobs.get", self._get_job)),
            web.post(f"/upload{project}/jobs", self._call("upload.begin", self._begin_upload)),
            web.put(f"/upload{project}/jobs", self._call("jobs.load", self._end_upload)),
        ]

    def _call(self, name: str, answer: Answering) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            self.calls.append(name)
            fault = self.faults[name].popleft() if self.faults[name] else ""
            try:
                if not self.tokens.takes(request.headers.get("Authorization", "")):
                    raise Said("authError", "Request had invalid authentication credentials.")
                if fault in STATUSES:
                    raise Said(fault)
                answered = await answer(request, fault.removeprefix("job:") if fault.startswith("job:") else "")
            except Said as said:
                return _error(said)
            except msgspec.ValidationError as error:
                return _error(Said("invalid", f"Invalid JSON payload received. {error}"))
            if fault == LOST and request.transport:
                request.transport.abort()
            return answered

        return handle

    async def _get_table(self, request: web.Request, _: str) -> web.Response:
        return web.json_response(self._told(self._named(request)))

    async def _insert_table(self, request: web.Request, _: str) -> web.Response:
        table = msgspec.json.decode(await request.read(), type=Table)
        name = table.table_reference.table_id
        if request.match_info["dataset"] != DATASET or table.table_reference.dataset_id != DATASET:
            raise Said("notFound", f"Not found: Dataset {PROJECT}:{request.match_info['dataset']}")
        if name in self.tables:
            raise Said("duplicate", f"Already Exists: Table {PROJECT}:{DATASET}.{name}")
        return web.json_response(self._told(self._made(table)))

    def make(self, name: str, fields: Sequence[Field]) -> None:
        """Make a table, as its owner may."""
        self._made(Table(Reference(PROJECT, DATASET, name), Schema(list(fields))))

    def _made(self, table: Table) -> str:
        name = table.table_reference.table_id
        self.engine.make(DATASET, name, table.schema)
        self.tables[name] = (table, time.time_ns(), next(self._ids))
        return name

    def columns(self, name: str) -> list[str]:
        """Return the names of the columns of a table."""
        return [field.name for field in self.tables[name][0].schema.fields]

    async def _patch_table(self, request: web.Request, _: str) -> web.Response:
        name = self._named(request)
        table, made_at, changed = self.tables[name]
        patch = msgspec.json.decode(await request.read(), type=TablePatch)
        if request.headers.get("If-Match") != _etag(changed):
            raise Said("conditionNotMet", "Precondition Failed")
        old, new = table.schema.fields, patch.schema.fields
        kept = [field.name for field in new[: len(old)]] == [field.name for field in old]
        names = {field.name.lower() for field in new}
        wrong = any(field.name.lower().startswith(("_table_", "_file_", "_partition")) for field in new)
        wrong = wrong or len(new) > self.limits.columns
        if not kept or len(names) < len(new) or wrong or any(each.mode == "REQUIRED" for each in new[len(old) :]):
            raise Said("invalid", "Provided Schema does not match Table")
        self.engine.add(DATASET, name, new[len(old) :])
        self.tables[name] = (msgspec.structs.replace(table, schema=patch.schema), made_at, next(self._ids))
        return web.json_response(self._told(name))

    async def _delete_table(self, request: web.Request, _: str) -> web.Response:
        name = self._named(request)
        self.drop(name)
        return web.Response(status=204)

    def drop(self, name: str) -> None:
        """Take a table away, as its owner may."""
        del self.tables[name]
        self.engine.drop(DATASET, name)

    def _named(self, request: web.Request) -> str:
        name = request.match_info["table"]
        if request.match_info["dataset"] != DATASET or name not in self.tables:
            raise Said("notFound", f"Not found: Table {PROJECT}:{request.match_info['dataset']}.{name}")
        return name

    def _told(self, name: str) -> dict[str, Any]:
        table, made_at, changed = self.tables[name]
        told: dict[str, Any] = msgspec.to_builtins(table)
        for field in told["schema"]["fields"]:
            field["type"] = LEGACY.get(field["type"], field["type"])
        more = {"etag": _etag(changed), "location": LOCATION, "creationTime": str(made_at), "kind": "bigquery#table"}
        return told | more

    async def _insert_query(self, request: web.Request, ends_with: str) -> web.Response:
        job = msgspec.json.decode(await request.read(), type=Job)
        if job.configuration.load or not job.configuration.query:
            raise Said("invalid", "Required parameter is missing: query")
        return self._begun(job, b"", ends_with or self.limits.exceeded(job, await request.read()))

    async def _begin_upload(self, request: web.Request, _: str) -> web.Response:
        job = msgspec.json.decode(await request.read(), type=Job)
        length = request.headers.get("X-Upload-Content-Length", "")
        if request.query.get("uploadType") != "resumable" or not length.isdecimal() or not job.configuration.load:
            raise Said("invalid", "not the beginning of an upload")
        name = f"upload-{next(self._ids)}"
        self._uploads[name] = job
        place = f"{self.url}/upload/bigquery/v2/projects/{PROJECT}/jobs?uploadType=resumable&upload_id={name}"
        return web.Response(headers={"Location": place})

    async def _end_upload(self, request: web.Request, ends_with: str) -> web.Response:
        job = self._uploads.pop(request.query.get("upload_id", ""), None)
        if job is None:
            raise Said("notFound", "no such upload")
        return self._begun(job, await request.read(), ends_with or self.limits.exceeded(job, b""))

    def _begun(self, job: Job, data: bytes, ends_with: str) -> web.Response:
        reference = job.job_reference
        if reference.project_id != PROJECT or not JOB_ID.fullmatch(reference.job_id):
            raise Said("invalid", "Invalid job ID")
        if reference.job_id in self.jobs:
            raise Said("duplicate", f"Already Exists: Job {PROJECT}:{LOCATION}.{reference.job_id}")
        if reference.location not in ("", LOCATION):
            raise Said("notFound", f"Not found: Dataset {PROJECT}:{DATASET} in location {reference.location}")
        known = {name: table.schema for name, (table, _, _) in self.tables.items()}
        ended = ended_job(self.engine, job, data, known, ends_with, self.limits)
        ended.looks = self.looks
        self.jobs[reference.job_id] = ended
        return web.json_response(ended.told())

    async def _get_job(self, request: web.Request, _: str) -> web.Response:
        job = self.jobs.get(request.match_info["job"])
        if job is None or request.query.get("location") != LOCATION:
            raise Said("notFound", f"Not found: Job {PROJECT}:{request.match_info['job']}")
        job.looks = max(job.looks - 1, 0)
        return web.json_response(job.told())


def _etag(changed: int) -> str:
    return f"etag-{changed}=="


def _error(said: Said) -> web.Response:
    status = STATUSES[said.reason]
    detail = {"domain": "global", "reason": said.reason, "message": str(said)}
    return web.json_response({"error": {"code": status, "message": str(said), "errors": [detail]}}, status=status)


@asynccontextmanager
async def serving() -> AsyncIterator[FakeBigQuery]:
    """Serve a fresh project on a port of its own while the block runs."""
    fake = FakeBigQuery()
    app = web.Application(client_max_size=1 << 30)
    app.add_routes(fake.routes())
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        fake.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        fake.tokens.url = f"{fake.url}/token"
        yield fake
    finally:
        await runner.cleanup()
        fake.engine.close()
