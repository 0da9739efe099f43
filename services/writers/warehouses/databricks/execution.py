"""Runs statements over the SQL Statement Execution API and waits for what comes of them."""

import asyncio
import time
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct, field

from services.writers.warehouses.databricks.faults import statement_fault
from services.writers.warehouses.databricks.settings import DatabricksSettings
from services.writers.warehouses.databricks.tokens import Tokens
from services.writers.warehouses.databricks.workspace import Workspace
from services.writers.warehouses.warehouse import Refusal
from services.writers.writer import DestinationDown

PATH = "/api/2.0/sql/statements"
WAITED_SECONDS = 30  # by the API itself, which takes 5 to 50
STATEMENT_SECONDS = 600.0  # then it is cancelled
FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS = 0.1, 5.0  # between two looks
UNDER_WAY = frozenset({"PENDING", "RUNNING"})

Rows = Sequence[Sequence[str | None]]


class _Error(Struct):
    error_code: str = ""
    message: str = ""


class _Status(Struct):
    state: str
    error: _Error | None = None


class _Result(Struct):
    data_array: list[list[str | None]] = field(default_factory=list)


class _Answer(Struct):
    statement_id: str
    status: _Status
    result: _Result | None = None


class Execution:
    """Statements of one SQL warehouse."""

    def __init__(self, settings: DatabricksSettings, workspace: Workspace, tokens: Tokens) -> None:
        self._settings = settings
        self._workspace = workspace
        self._tokens = tokens

    async def run(self, statement: str, parameters: Mapping[str, str] | None = None) -> Rows:
        """Run a statement and return its rows, as texts.

        Raises:
            Conflict, ThereAlready, DataFault, Refusal, or DestinationDown: it may be in effect after the last.
        """
        asked = {
            "statement": statement,
            "warehouse_id": self._settings.warehouse_id,
            "parameters": [{"name": name, "value": value} for name, value in (parameters or {}).items()],
            "wait_timeout": f"{WAITED_SECONDS}s",
            "on_wait_timeout": "CONTINUE",
            "disposition": "INLINE",
            "format": "JSON_ARRAY",
        }
        answer = _read(await self._authorized("POST", PATH, asked))
        until = time.monotonic() + STATEMENT_SECONDS
        pause = FIRST_LOOK_SECONDS
        while answer.status.state in UNDER_WAY:
            if time.monotonic() >= until:
                await self._authorized("POST", f"{PATH}/{answer.statement_id}/cancel", {})
                raise DestinationDown(f"a statement took more than {STATEMENT_SECONDS:g} s")
            await asyncio.sleep(pause)
            pause = min(pause * 2, LAST_LOOK_SECONDS)
            answer = _read(await self._authorized("GET", f"{PATH}/{answer.statement_id}", None))
        return _rows(answer)

    async def _authorized(self, method: str, path: str, body: object) -> bytes:
        try:
            return await self._call(method, path, body)
        except Refusal:
            if not self._tokens.renewable():
                raise
        return await self._call(method, path, body)

    async def _call(self, method: str, path: str, body: object) -> bytes:
        token = await self._tokens.token()
        return await (self._workspace.get(path, token) if method == "GET" else self._workspace.post(path, token, body))


def _read(body: bytes) -> _Answer:
    try:
        return msgspec.json.decode(body, type=_Answer)
    except msgspec.DecodeError:
        raise DestinationDown("Databricks gave an answer that cannot be read") from None


def _rows(answer: _Answer) -> Rows:
    error = answer.status.error or _Error()
    match answer.status.state:
        case "SUCCEEDED":
            return answer.result.data_array if answer.result else []
        case "FAILED":
            raise statement_fault(error.error_code, error.message)
        case state:
            raise DestinationDown(f"a statement ended as {state[:20]}")
