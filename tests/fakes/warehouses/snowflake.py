"""Snowflake's server as `fakesnow` plays it, with what it leaves out: logins, request ids, and locks of rows.

Snowflake runs a request id once, however often it is sent, and holds a changed row until its transaction ends. Of
logins it checks password, token, or the signature of a key pair.
"""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import jwt
import uvicorn
from fakesnow.server import app as fakesnow
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from tests.eventually import eventually

USER, PASSWORD, TOKEN = "LOADER", "correct horse", "pat-1234"
LOGIN_REFUSED, SESSION_GONE = "390100", "390111 08001"


@dataclass
class SnowflakeFake:
    """An ASGI application in front of fakesnow; its fields say what goes wrong and what was asked."""

    public_key: str = ""  # PEM of the user's key pair
    port: int = 0
    down: bool = False  # answer 503 to logins and statements
    lose_next: str = ""  # run the next statement that begins so, then cut the line and lose the session
    refuse_next: dict[str, str] = field(default_factory=dict)  # start of a statement -> code of its error
    statements: list[str] = field(default_factory=list)
    logins: int = 0
    largest: int = 0  # bytes of a statement with what was bound to it
    _answers: dict[str, list[Message]] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _owner: str = ""  # session that holds the lock
    _lost: set[str] = field(default_factory=set)  # sessions that are no more
    _open: set[str] = field(default_factory=set)  # sessions in a transaction

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        path, body = scope["path"], await _body(receive)
        if self.down and path != "/session" and not path.endswith("/abort-request"):
            await JSONResponse({}, status_code=503)(scope, receive, send)
        elif path == "/session/v1/login-request":
            await self._login(scope, body, send)
        elif path == "/queries/v1/query-request":
            await self._query(scope, body, send)
        else:
            await fakesnow(scope, _again(body), send)

    async def _login(self, scope: Scope, body: bytes, send: Send) -> None:
        data = json.loads(_unzipped(body))["data"]
        if not self._may_enter(data):
            answer = {"data": {}, "code": LOGIN_REFUSED, "message": "Incorrect username or password", "success": False}
            await JSONResponse(answer)(scope, _again(body), send)
            return
        self.logins += 1
        await fakesnow(scope, _again(body), send)

    def _may_enter(self, data: dict[str, Any]) -> bool:
        if data.get("LOGIN_NAME", "").upper() != USER:
            return False
        match data.get("AUTHENTICATOR"):
            case "SNOWFLAKE_JWT":
                try:
                    jwt.decode(data["TOKEN"], self.public_key, algorithms=["RS256"])
                except jwt.PyJWTError:
                    return False
                return True
            case "PROGRAMMATIC_ACCESS_TOKEN":
                return data.get("TOKEN") == TOKEN
            case _:
                return data.get("PASSWORD") == PASSWORD

    async def _query(self, scope: Scope, body: bytes, send: Send) -> None:
        asked = json.loads(_unzipped(body))
        statement = asked["sqlText"]
        bound = sum(len((each.get("value") or "").encode()) for each in (asked.get("bindings") or {}).values())
        request_id = dict(part.split("=", 1) for part in scope["query_string"].decode().split("&"))["requestId"]
        session = dict(scope["headers"]).get(b"authorization", b"").decode()
        if session in self._lost:
            await JSONResponse(_error(SESSION_GONE))(scope, _again(body), send)
            return
        if request_id not in self._answers:
            self.statements.append(statement)
            self.largest = max(self.largest, len(statement.encode()) + bound)
            self._answers[request_id] = await self._run(scope, body, statement, session)
        if self.lose_next and statement.startswith(self.lose_next):
            self.lose_next = ""
            self._lost.add(session)
            return  # the server closes the connection without an answer
        for message in self._answers[request_id]:
            await send(message)

    async def _run(self, scope: Scope, body: bytes, statement: str, session: str) -> list[Message]:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        if code := next(
            (self.refuse_next.pop(start) for start in [*self.refuse_next] if statement.startswith(start)), ""
        ):
            await JSONResponse(_error(code))(scope, _again(body), send)
            return sent
        if statement.startswith(("UPDATE", "CREATE", "ALTER")) and self._owner != session:
            await self._lock.acquire()
            self._owner = session
        await fakesnow(scope, _again(body), send)
        if statement.startswith("BEGIN"):
            self._open.add(session)
        if statement.startswith(("COMMIT", "ROLLBACK")):
            self._open.discard(session)
        if self._owner == session and session not in self._open:
            self._owner = ""
            self._lock.release()
        return sent


@asynccontextmanager
async def running(fake: SnowflakeFake) -> AsyncIterator[SnowflakeFake]:
    """Serve on a port of its own."""
    config = uvicorn.Config(
        fake, host="127.0.0.1", port=0, log_config=None, lifespan="off", timeout_graceful_shutdown=5
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server._serve())
    await eventually(lambda: server.started)
    fake.port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield fake
    finally:
        server.should_exit = True
        await serving


def _error(code: str) -> dict[str, Any]:
    number, state = code.split()
    return {"data": {"errorCode": number, "sqlState": state}, "code": number, "message": "no", "success": False}


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(body)


def _again(body: bytes) -> Receive:
    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _unzipped(body: bytes) -> bytes:
    return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
