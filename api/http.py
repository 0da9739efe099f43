"""Puts the operations behind HTTP: request ids, authentication, reading, errors as JSON, metrics, a log line a call."""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
import psycopg
import psycopg_pool
from aiohttp import web
from multidict import MultiDict, MultiMapping

from api import positions
from api.auth import Caller, refuse_key_in_url, require
from api.compression import compress
from api.errors import Problem, invalid, together
from api.modules.problems import about_modules, detail_of
from api.operation import Call, Operation
from api.parts import Parts
from api.reading import json_object, query_of, typed
from api.spiders.frame import about_spiders, mounted
from api.tail import TailBehind
from services.runtime.errors import BlobFault, BrokerFault, KeysAway, LedgerUnavailable
from services.runtime.health_server import health_routes
from services.runtime.ids import is_uuid, uuid7
from services.runtime.logs import about, note
from services.runtime.metrics import count, timed
from services.runtime.postgres_faults import reason_of

log = logging.getLogger(__name__)
REQUEST_SECONDS = 25.0  # then a store or the ledger is taken for not answering
BODY_SECONDS = 15.0  # for the whole body; then the caller is at fault
MAX_NOTHING_BYTES = 64  # of a body that says nothing
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})  # others are one in the metrics
SPIDERS = web.AppKey("spiders", str)  # the prefix of the calls about them
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}", re.ASCII)


@dataclass(slots=True)
class Seen:
    """What is known of the request that this task answers."""

    request_id: str
    actor: str = ""
    deadline: asyncio.Timeout | None = None
    headers: Mapping[str, str] = field(default_factory=dict)  # of the answer, whatever it is


_seen: ContextVar[Seen] = ContextVar("seen")
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def app_of(parts: Parts, operations: Sequence[Operation]) -> web.Application:
    """Return the application that serves these operations, /health, /ready and /metrics, and nothing else."""
    app = web.Application(middlewares=[_answered])
    app[SPIDERS] = parts.settings.spider_prefix
    app.on_shutdown.append(parts.streams.stop)
    app.add_routes(health_routes(parts.health))
    operations = mounted(operations, parts.settings.spider_prefix)
    for operation in operations:
        app.router.add_route(operation.method, operation.path, _bound(parts, operation))
    for path in dict.fromkeys(operation.path for operation in operations if "{" not in operation.path):
        app.router.add_route("*", path, _refusing({each.method for each in operations if each.path == path}))
    return app


def _refusing(methods: Collection[str]) -> _Handler:
    """Refuse what a path without parameters does not take; else one with parameters would take it for an id."""

    async def handle(request: web.Request) -> web.StreamResponse:
        raise web.HTTPMethodNotAllowed(request.method, methods)

    return handle


def answer(status: int, body: msgspec.Struct | dict[str, Any], headers: dict[str, str] | None = None) -> web.Response:
    """Return a JSON answer."""
    return web.Response(
        body=msgspec.json.encode(body), status=status, headers=headers, content_type="application/json", charset="utf-8"
    )


def without_deadline() -> dict[str, str]:
    """Let the call under way take as long as it will: a stream. Return the headers that every answer has."""
    seen = _seen.get()
    if seen.deadline:
        seen.deadline.reschedule(None)
    return {**seen.headers, "X-Request-Id": seen.request_id}


def answered_with(headers: Mapping[str, str]) -> None:
    """Let the call under way be answered with these headers, whatever its answer is."""
    seen = _seen.get()
    seen.headers = {**seen.headers, **headers}


def _bound(parts: Parts, operation: Operation) -> _Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        caller = Caller()
        if operation.access != "open":
            caller = await parts.keyring.caller(_authorization(request), request.remote or "")
            _seen.get().actor = caller.actor
            note(**_ids_of(caller, request))
            _seen.get().headers = parts.limiter.take(caller)
            require(caller, operation.access, operator_too=operation.operator_too)
        _refuse_nul(request)
        asked = MultiDict(request.query)
        seen: positions.Position | None = None
        if operation.positioned:
            patience = parts.settings.min_position_seconds
            seen = await positions.reached(parts.jobs, caller, request.headers, asked, patience)
        query = _query(asked, operation)
        body = None
        if operation.body and not operation.form:
            more = partial(operation.faults, parts.settings) if operation.faults else None
            shape: Any = operation.shape(parts, request) if operation.shape else operation.body
            body = typed(await _body(request, operation), shape, more=more)
        elif request.can_read_body and not operation.form:
            await _refuse_body(request)
        response = await operation.handler(Call(request, parts, caller, body, query, _seen.get().request_id))
        if seen and seen.position and not response.prepared:
            response.headers.setdefault("Ledger-Position", str(seen))
        return response

    return handle


def _authorization(request: web.Request) -> str:
    """Return the header that names the caller; of two, somebody in between may have judged the other one."""
    given = request.headers.getall("Authorization", ())
    if len(given) > 1:
        raise Problem("bad_request", "the header comes several times: send one key", field="Authorization")
    return given[0] if given else ""


def _query(asked: MultiMapping[str], operation: Operation) -> Any:
    if operation.query is None:
        if asked:
            raise together([invalid(name, "this call takes no query parameters") for name in dict.fromkeys(asked)])
        return None
    return typed(query_of(asked, operation.query), operation.query, strict=False)


def _refuse_nul(request: web.Request) -> None:
    """Refuse what Postgres could not be asked about: nothing is called so."""
    if any("\0" in part for part in request.match_info.values()):
        raise Problem("not_found", "the path holds a NUL character: nothing is called so")
    for name, value in request.query.items():
        if "\0" in name + value:
            raise invalid(name.replace("\0", ""), "this text holds a NUL character: leave it out")


def _ids_of(caller: Caller, request: web.Request) -> dict[str, str]:
    """Return org and job of a call, for its log lines; of the path only what is a job's id."""
    job_id = request.match_info.get("job_id", "")
    ids = {"org_id": caller.org_id, "job_id": job_id if is_uuid(job_id) else ""}
    return {name: value for name, value in ids.items() if value}


async def _body(request: web.Request, operation: Operation) -> dict[str, Any]:
    limit = operation.max_body_bytes
    if (request.content_length or 0) > limit:
        raise _too_large(limit)
    data = await _up_to(request, limit)
    if len(data) > limit:
        raise _too_large(limit)
    return {} if operation.body_optional and not data else json_object(data)


async def _refuse_body(request: web.Request) -> None:
    """Refuse what a call would not look at; some clients send an empty object where there is nothing to say."""
    data = await _up_to(request, MAX_NOTHING_BYTES)
    if len(data) > MAX_NOTHING_BYTES or data.strip() not in (b"", b"{}"):
        raise invalid("body", "this call takes no body: leave it out")


async def _up_to(request: web.Request, limit: int) -> bytes:
    """Return the whole body, or more than `limit` bytes of it."""
    data = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.content.iter_chunked(65536):
                data += chunk
                if len(data) > limit:
                    break
    except TimeoutError:
        raise Problem("bad_request", f"the body did not arrive whole within {BODY_SECONDS:g} s") from None
    return bytes(data)


def _too_large(limit: int) -> Problem:
    return Problem("too_large", f"the body takes at most {limit} bytes", details={"limitBytes": limit})


@web.middleware
async def _answered(request: web.Request, handler: _Handler) -> web.StreamResponse:
    """Answer every request, whatever happens, with its id; count it and log it without its URL."""
    given = request.headers.get("X-Request-Id", "")
    seen = Seen(given if _REQUEST_ID.fullmatch(given) else uuid7())
    _seen.set(seen)
    with about(request_id=seen.request_id):
        return await _logged(request, handler, seen)


async def _logged(request: web.Request, handler: _Handler, seen: Seen) -> web.StreamResponse:
    began = time.perf_counter()
    response = await _answer(request, handler)
    if not response.prepared:
        response.headers["X-Request-Id"] = seen.request_id
        response.headers.update(seen.headers)
        await compress(request.headers.get("Accept-Encoding", ""), response)
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
    resource = request.match_info.route.resource
    route = resource.canonical if resource else "unknown"
    seconds = time.perf_counter() - began
    method = request.method if request.method in METHODS else "other"
    count("http_requests", method=method, route=route, status=str(response.status))
    timed("http_request_seconds", seconds, method=method, route=route)
    log.info(
        "request answered",
        extra={
            "request_id": seen.request_id,
            "method": method,
            "route": route,
            "status": response.status,
            "seconds": round(seconds, 6),
            "actor": seen.actor,
        },
    )
    return response


async def _answer(request: web.Request, handler: _Handler) -> web.StreamResponse:
    try:
        refuse_key_in_url(request.query, request.path)
        async with asyncio.timeout(REQUEST_SECONDS) as _seen.get().deadline:
            return await handler(request)
    except Exception as error:
        problem = _problem(error)
        told = {**problem.body, "requestId": _seen.get().request_id}
        detailed = about_modules(request.path) or about_spiders(request.path, request.app[SPIDERS])
        body = detail_of(problem) if detailed else told
        response = answer(problem.status, body, problem.headers)
        if isinstance(error, web.RequestPayloadError):
            response.force_close()  # aiohttp will close, and has to say so: the next call would go there
        return response


def _problem(error: Exception) -> Problem:
    """Say in our words what went wrong; what nobody foresaw is logged and told as `internal`."""
    match error:
        case Problem():
            return error
        case web.HTTPMethodNotAllowed():
            allowed = ", ".join(sorted(error.allowed_methods))
            return Problem("method_not_allowed", f"this path takes {allowed}", headers={"Allow": allowed})
        case web.HTTPNotFound():
            return Problem("not_found", "there is no such path: see /api/v1/openapi.json")
        case web.HTTPException() if error.status < 500:
            return Problem("bad_request", error.reason)
        case web.RequestPayloadError() | ConnectionError():
            return Problem("bad_request", "the body did not arrive whole, or is not encoded as its header says")
        case TailBehind():
            return Problem("catching_up", f"{error}: ask again")
        case LedgerUnavailable() | BrokerFault():
            return Problem("ledger_unavailable", "the ledger did not answer in time: ask again")
        case KeysAway() | psycopg.OperationalError() | psycopg_pool.PoolTimeout() | BlobFault() | TimeoutError():
            log.error("store unavailable", extra={"request_id": _seen.get().request_id, "reason": reason_of(error)})
            return Problem("store_unavailable", "a store does not answer: ask again")
        case _:
            log.error("request failed", extra={"request_id": _seen.get().request_id}, exc_info=error)
            return Problem("internal", "a fault of ours: name the request id when you ask about it")
