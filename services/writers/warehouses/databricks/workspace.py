"""Calls to one workspace, which may ask for time: it is given where that is short."""

import asyncio
import base64
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from yarl import URL

from services.runtime.networks import Networks
from services.runtime.retry_after import retry_after_seconds
from services.runtime.time import utc_now
from services.writers.warehouses.calls import Calls
from services.writers.warehouses.databricks.faults import http_fault

CALL_SECONDS = 90.0  # more than a statement is waited for
LONGEST_WAIT_SECONDS = 30.0  # that is waited here for a workspace that is too busy
WAITS = 3
TOO_BUSY = frozenset({429, 503})


class _Error(Struct):
    error_code: str = ""


class Workspace:
    """Where statements and tokens are asked for. Every call raises Refusal or DestinationDown."""

    def __init__(self, base: URL, *, allowed: Networks) -> None:
        self._base = base
        self._calls = Calls(allowed=allowed, answer_seconds=CALL_SECONDS)

    async def close(self) -> None:
        """Close the connections."""
        await self._calls.close()

    async def get(self, path: str, token: str) -> bytes:
        """Return what a path answers."""
        return await self._asked("GET", path, headers=_bearer(token))

    async def post(self, path: str, token: str, body: object) -> bytes:
        """Post JSON."""
        headers = {**_bearer(token), "Content-Type": "application/json"}
        return await self._asked("POST", path, headers=headers, body=msgspec.json.encode(body))

    async def form(self, path: str, fields: Mapping[str, str], *, user: str, password: str) -> bytes:
        """Post a form."""
        basic = base64.b64encode(f"{user}:{password}".encode()).decode()
        return await self._asked("POST", path, headers={"Authorization": f"Basic {basic}"}, body=fields)

    async def _asked(self, method: str, path: str, **request: Any) -> bytes:
        """Ask until there is an answer that is not that the workspace is too busy."""
        for _ in range(WAITS):
            answer = await self._calls.call(method, self._base.join(URL(path)), **request)
            if 200 <= answer.status < 300:
                return answer.body
            wait = retry_after_seconds(answer.headers.get("Retry-After", ""), utc_now())
            if answer.status not in TOO_BUSY or wait is None or wait > LONGEST_WAIT_SECONDS:
                break
            await asyncio.sleep(wait)
        raise http_fault(answer.status, _code(answer.body))


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _code(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=_Error).error_code
    except msgspec.DecodeError:
        return ""
