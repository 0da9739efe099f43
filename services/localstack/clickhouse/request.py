"""A request of ClickHouse's HTTP interface, taken apart."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from services.localstack.clickhouse.engine import DEFAULT_DATABASE, SESSION_SECONDS
from services.localstack.clickhouse.faults import CANNOT_DECOMPRESS, EngineFault
from services.localstack.clickhouse.frames import Undecodable, decoded

# What is said in the URL to the interface itself; every other name there is a setting of the engine.
TRANSPORT = frozenset(
    {
        "buffer_size",
        "cancel_http_readonly_queries_on_client_close",
        "client_protocol_version",
        "compress",
        "database",
        "decompress",
        "default_format",
        "enable_http_compression",
        "http_headers_progress_interval_ms",
        "password",
        "query",
        "query_id",
        "quota_key",
        "role",
        "send_progress_in_http_headers",
        "session_check",
        "session_id",
        "session_timeout",
        "user",
        "wait_end_of_query",
    }
)
PARAMETER = "param_"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: a statement, rows for it, and how to run it."""

    text: bytes
    data: bytes
    format: str
    database: str
    settings: Mapping[str, str]
    parameters: Mapping[str, str]
    session: str  # empty: none
    session_seconds: float
    session_must_exist: bool


async def read_request(request: web.Request) -> Asked:
    """Read the whole request; EngineFault where its body cannot be unpacked."""
    said = dict(request.query)
    data = b""
    if request.content_type == "multipart/form-data":
        form = await request.post()
        said |= {name: value for name, value in form.items() if isinstance(value, str)}
    else:
        encoding = request.headers.get("Content-Encoding", "")
        try:
            data = await asyncio.to_thread(decoded, await request.read(), encoding)
        except Undecodable as error:
            raise EngineFault(CANNOT_DECOMPRESS, str(error)) from error
    text = said.get("query", "").encode()
    if not text:
        text, data = data, b""
    return Asked(
        text,
        data,
        said.get("default_format") or request.headers.get("X-ClickHouse-Format") or "TabSeparated",
        said.get("database") or request.headers.get("X-ClickHouse-Database") or DEFAULT_DATABASE,
        {name: value for name, value in said.items() if name not in TRANSPORT and not name.startswith(PARAMETER)},
        {name.removeprefix(PARAMETER): value for name, value in said.items() if name.startswith(PARAMETER)},
        said.get("session_id", ""),
        float(said.get("session_timeout") or SESSION_SECONDS),
        said.get("session_check") == "1",
    )
