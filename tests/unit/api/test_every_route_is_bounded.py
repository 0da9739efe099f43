"""Every route of the API is on the page of limits, reads no body beyond its limit, and counts who calls it."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from types import SimpleNamespace
from typing import Any, cast

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from api.auth import Caller
from api.http import MAX_NOTHING_BYTES, app_of
from api.limits import Limiter
from api.operation import Operation
from api.parts import Parts
from api.routes.all import OPERATIONS
from services.cli.docs_limits import OF_PROCESSES
from services.cli.docs_pages import LIMITS_PAGE
from services.runtime.health import Health
from services.runtime.settings import Settings
from services.runtime.topics import all_topics
from services.workers.modules.registry import modules

SETTINGS = Settings("", "", "", "")
OPEN = [each for each in OPERATIONS if each.access == "open"]
CLOSED = [each for each in OPERATIONS if each.access != "open"]
ROW = re.compile(r"^\| `(\w+) (\S+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


class _Streams:
    async def stop(self, _app: object) -> None:
        """Stop."""


class _Keyring:
    """Lets everybody in as one caller."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def caller(self, _authorization: str, _address: str) -> Caller:
        return self._caller


ACME = Caller("api:1", "acme", scopes=frozenset({"read", "submit", "admin"}))
OPERATOR = Caller("operator", scopes=frozenset({"operator"}))


@asynccontextmanager
async def calling(
    caller: Caller, limiter: Limiter | None = None
) -> AsyncIterator[TestClient[web.Request, web.Application]]:
    """Serve every operation; whatever gets past the limits finds no store behind them."""
    parts: Any = SimpleNamespace(
        settings=SETTINGS,
        keyring=_Keyring(caller),
        limiter=limiter or Limiter(0),
        streams=_Streams(),
        health=Health("api"),
        modules=modules(),
        jobs=SimpleNamespace(folded=lambda _partition: 0),
    )
    async with TestClient(TestServer(app_of(cast(Parts, parts), OPERATIONS))) as client:
        yield client


def named(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


def place(operation: Operation) -> str:
    return re.sub(r"\{\w+\}", "scrap", operation.path)  # which is a module, where that is asked for


async def test_every_route_that_is_served_is_on_the_page() -> None:
    rows = {(method, path) for method, path, *_ in ROW.findall(LIMITS_PAGE.read_text())}
    async with calling(ACME) as client:
        assert client.app is not None
        routes = [(each.method, each.resource.canonical) for each in client.app.router.routes() if each.resource]
    served = {(method, path) for method, path in routes if method not in ("HEAD", "*")}
    assert served == rows
    assert {path for method, path in served if method == "GET"} >= set(OF_PROCESSES)


def test_every_topic_is_on_the_page() -> None:
    page = LIMITS_PAGE.read_text()
    assert [topic.name for topic in all_topics(SETTINGS) if f"| `{topic.name}` |" not in page] == []


async def test_a_body_of_one_byte_too_many_is_refused_before_anybody_looks_at_it() -> None:
    taken = []
    async with calling(ACME) as for_acme, calling(OPERATOR) as for_operator:
        for operation in (each for each in CLOSED if not each.form):
            limit = operation.max_body_bytes if operation.body else MAX_NOTHING_BYTES
            wanted = (413, f"at most {limit} bytes") if operation.body else (422, "")
            client = for_operator if operation.access == "operator" else for_acme
            data = BytesIO(b" " * (limit + 1))
            answer = await client.request(operation.method, place(operation), data=data)
            said = await answer.text()
            if answer.status != wanted[0] or wanted[1] not in said:
                taken.append((named(operation), answer.status, said))
    assert taken == []


async def test_a_call_of_a_key_counts_and_the_one_too_many_is_refused() -> None:
    limiter = Limiter(0.5, lambda: 0.0)  # one in two seconds
    limiter.take(ACME)
    async with calling(ACME, limiter) as client:
        asked = {named(each): await client.request(each.method, place(each)) for each in CLOSED}
    assert {name: answer.status for name, answer in asked.items() if answer.status != 429} == {}


def test_what_anybody_may_call_asks_no_store_and_is_little() -> None:
    assert sorted(named(each) for each in OPEN) == [
        "GET /api/v1/openapi.json",
        "GET /api/v1/workflows/schema",
        "GET /spider/health",
    ]
