"""A workspace of Databricks: what it documents of the SQL Statement Execution API and of tokens, and nothing else.

Unknown fields, wrong tokens, statements that are too large and parameters that are too many are refused as documented.
"""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from aiohttp import web
from msgspec import Struct
from yarl import URL

from tests.fakes.warehouses.delta import CONFLICT, Delta, Failed, statement_id

TOKEN, CLIENT_ID, CLIENT_SECRET, WAREHOUSE_ID = "dapi-1234", "client-1", "dose-5678", "abc123def456"
MAX_TEXT_BYTES = 16 * 1024 * 1024
MAX_PARAMETERS = 256
PATH = "/api/2.0/sql/statements"


class _Parameter(Struct, forbid_unknown_fields=True):
    name: str
    value: str | None = None
    type: str = "STRING"


class _Asked(Struct, forbid_unknown_fields=True):
    statement: str
    warehouse_id: str
    parameters: list[_Parameter] = msgspec.field(default_factory=list)
    wait_timeout: str = "10s"
    on_wait_timeout: str = "CONTINUE"
    disposition: str = "INLINE"
    format: str = "JSON_ARRAY"
    catalog: str | None = None
    schema: str | None = None


@dataclass
class DatabricksFake:
    """Its fields say what goes wrong and what was asked."""

    delta: Delta = field(default_factory=Delta)
    lose_next: str = ""  # commit the next statement that begins so, and give no answer
    conflicts_after_loss: int = 0  # that follow on the answer that is lost
    conflicts: int = 0  # MERGE statements that lose to another writer
    looks: int = 0  # that a statement is PENDING, then RUNNING, before it has ended
    refusals: list[tuple[int, dict[str, str]]] = field(default_factory=list)  # status and headers of the next answers
    failures: list[tuple[str, str]] = field(default_factory=list)  # error_code and message of the next statements
    just_before: dict[str, str] = field(default_factory=dict)  # start of a statement -> what another client does then
    valid: set[str] = field(default_factory=lambda: {TOKEN})
    statements: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    granted: int = 0
    never_ends: bool = False
    url: URL = field(default_factory=URL)
    _ended: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)

    async def execute(self, request: web.Request) -> web.StreamResponse:
        """POST /api/2.0/sql/statements."""
        if refused := self._refused(request):
            return refused
        try:
            asked = msgspec.json.decode(await request.read(), type=_Asked)
        except msgspec.ValidationError as error:
            return _error(400, "INVALID_PARAMETER_VALUE", str(error))
        if fault := _fault(asked):
            return fault
        self.statements.append(asked.statement)
        name, status = statement_id(), await self._status(asked)
        self._ended[name] = (self.looks, status)
        if self.lose_next and asked.statement.startswith(self.lose_next):
            self.lose_next, self.conflicts = "", self.conflicts_after_loss
            assert request.transport
            request.transport.close()
        return self._answer(name)

    async def look(self, request: web.Request) -> web.StreamResponse:
        """GET /api/2.0/sql/statements/{statement_id}."""
        name = request.match_info["name"]
        if refused := self._refused(request):
            return refused
        if name not in self._ended:
            return _error(404, "NOT_FOUND", "no such statement")
        return self._answer(name)

    async def cancel(self, request: web.Request) -> web.StreamResponse:
        """POST /api/2.0/sql/statements/{statement_id}/cancel."""
        self.cancelled.append(request.match_info["name"])
        return self._refused(request) or web.json_response({})

    async def grant(self, request: web.Request) -> web.StreamResponse:
        """POST /oidc/v1/token."""
        basic = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        if request.headers.get("Authorization") != f"Basic {basic}":
            return web.json_response({"error": "invalid_client"}, status=401)
        form = await request.post()
        if dict(form) != {"grant_type": "client_credentials", "scope": "all-apis"}:
            return web.json_response({"error": "invalid_request"}, status=400)
        self.granted += 1
        token = f"oauth-{self.granted}"
        self.valid = {token}
        return web.json_response({"access_token": token, "token_type": "Bearer", "expires_in": 3600})

    def _refused(self, request: web.Request) -> web.StreamResponse | None:
        if self.refusals:
            status, headers = self.refusals.pop(0)
            return _error(status, "TEMPORARILY_UNAVAILABLE", "not now", headers)
        if request.headers.get("Authorization", "").removeprefix("Bearer ") not in self.valid:
            return _error(403, "PERMISSION_DENIED", "Invalid access token.")
        return None

    async def _status(self, asked: _Asked) -> dict[str, Any]:
        if self.failures:
            code, message = self.failures.pop(0)
            return {"status": {"state": "FAILED", "error": {"error_code": code, "message": message}}}
        for start in [start for start in self.just_before if asked.statement.startswith(start)]:
            self.delta.rows(self.just_before.pop(start))
        try:
            if self.conflicts and asked.statement.startswith("MERGE"):
                self.conflicts -= 1
                raise Failed(*CONFLICT)
            rows = await self.delta.run(asked.statement, {each.name: each.value or "" for each in asked.parameters})
        except Failed as error:
            return {"status": {"state": "FAILED", "error": {"error_code": "BAD_REQUEST", "message": str(error)}}}
        return {"status": {"state": "SUCCEEDED"}, "result": {"chunk_index": 0, "data_array": rows}}

    def _answer(self, name: str) -> web.StreamResponse:
        looks, ended = self._ended[name]
        if self.never_ends or looks:
            self._ended[name] = (looks - 1, ended)
            ended = {"status": {"state": "PENDING" if looks == self.looks else "RUNNING"}}
        return web.json_response({"statement_id": name, **ended})


@asynccontextmanager
async def running(fake: DatabricksFake) -> AsyncIterator[DatabricksFake]:
    """Serve on a port of its own."""
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post(PATH, fake.execute)
    app.router.add_get(f"{PATH}/{{name}}", fake.look)
    app.router.add_post(f"{PATH}/{{name}}/cancel", fake.cancel)
    app.router.add_post("/oidc/v1/token", fake.grant)
    runner = web.AppRunner(app, shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    fake.url = URL(f"http://{host}:{port}")
    try:
        yield fake
    finally:
        await asyncio.shield(runner.cleanup())


def _fault(asked: _Asked) -> web.StreamResponse | None:
    """Return why a request is not accepted."""
    if asked.warehouse_id != WAREHOUSE_ID:
        return _error(404, "NOT_FOUND", "SQL warehouse does not exist")
    values = sum(len((each.value or "").encode()) for each in asked.parameters)
    if len(asked.statement.encode()) + values > MAX_TEXT_BYTES:
        return _error(400, "INVALID_PARAMETER_VALUE", "the query text is larger than 16 MiB")
    if len(asked.parameters) > MAX_PARAMETERS:
        return _error(400, "INVALID_PARAMETER_VALUE", "too many parameters")
    if asked.wait_timeout != "0s" and not 5 <= int(asked.wait_timeout.removesuffix("s")) <= 50:
        return _error(400, "INVALID_PARAMETER_VALUE", "wait_timeout must be 0s or from 5s to 50s")
    if (asked.disposition, asked.format) != ("INLINE", "JSON_ARRAY") or asked.on_wait_timeout not in (
        "CONTINUE",
        "CANCEL",
    ):
        return _error(400, "INVALID_PARAMETER_VALUE", "this disposition, format or on_wait_timeout is not played here")
    return None


def _error(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> web.StreamResponse:
    return web.json_response({"error_code": code, "message": message}, status=status, headers=headers)
