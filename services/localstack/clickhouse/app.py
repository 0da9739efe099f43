"""The engine over HTTP, with the paths, headers and errors of a ClickHouse server."""

import asyncio
import json
import logging
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from aiohttp import web

from services.localstack.clickhouse import statement
from services.localstack.clickhouse.engine import Answer, Engine, Session
from services.localstack.clickhouse.faults import code_of, status_of
from services.localstack.clickhouse.request import Asked, read_request

MAX_BODY_BYTES = 1 << 30
AT_ONCE = 8  # statements that run at once
DISPLAY_NAME = "chdb"

log = logging.getLogger(__name__)


class Interface:
    """Answers requests; statements run in threads, results go out piece by piece."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="statement")

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Run the statement of a request."""
        headers = {
            "X-ClickHouse-Query-Id": request.query.get("query_id") or str(uuid.uuid4()),
            "X-ClickHouse-Server-Display-Name": DISPLAY_NAME,
            "X-ClickHouse-Timezone": self._engine.timezone,
        }
        try:
            asked = await read_request(request)
            session = self._engine.session(asked.session, must_exist=asked.session_must_exist)
        except Exception as error:  # chdb raises RuntimeError and its own; all become what a server would answer
            return _refusal(error, headers)
        try:
            return await self._answer(request, asked, session, headers)
        finally:
            session.give_back(asked.session_seconds)
            if not asked.session:
                session.close()

    async def _answer(
        self, request: web.Request, asked: Asked, session: Session, headers: dict[str, str]
    ) -> web.StreamResponse:
        loop = asyncio.get_running_loop()
        try:
            answer = await loop.run_in_executor(self._threads, _run, session, asked)
            piece = await loop.run_in_executor(self._threads, next, answer.pieces, None)
        except Exception as error:  # see above
            return _refusal(error, headers)
        headers["X-ClickHouse-Summary"] = json.dumps({name: str(value) for name, value in answer.summary.items()})
        if answer.format:
            headers["X-ClickHouse-Format"] = answer.format
        response = web.StreamResponse(headers=headers)
        response.content_type = "text/plain"
        try:
            await response.prepare(request)
            while piece is not None:
                await response.write(piece)
                piece = await loop.run_in_executor(self._threads, next, answer.pieces, None)
            await response.write_eof()
        finally:
            await loop.run_in_executor(self._threads, answer.close)
        return response

    async def ping(self, _request: web.Request) -> web.Response:
        """Say that somebody is here."""
        return web.Response(text="Ok.\n")

    async def get(self, request: web.Request) -> web.StreamResponse:
        """Run a statement of the URL, or say that somebody is here."""
        return await (self.handle(request) if "query" in request.query else self.ping(request))

    def close(self) -> None:
        """Wait for statements that run, then close the engine."""
        self._threads.shutdown(cancel_futures=True)
        self._engine.close()


def create_app(interface: Interface) -> web.Application:
    """Build the application."""
    app = web.Application(client_max_size=MAX_BODY_BYTES)
    app.add_routes(
        [
            web.get("/ping", interface.ping),
            web.get("/", interface.get),
            web.post("/", interface.handle),
        ]
    )
    return app


def _run(session: Session, asked: Asked) -> Answer:
    started = time.perf_counter_ns()
    what = statement.read(asked.text, asked.data, asked.format)
    session.prepare(asked.database, asked.settings)
    answer = session.insert(what) if isinstance(what, statement.Insert) else session.query(what, asked.parameters)
    answer.summary["elapsed_ns"] = time.perf_counter_ns() - started
    return answer


def _refusal(error: Exception, headers: dict[str, str]) -> web.Response:
    said = str(error)
    message = said[max(said.find("Code: "), 0) :]
    code = code_of(message)
    log.info("refused", extra={"code": code, "reason": message[:500]})
    return web.Response(
        status=status_of(code), text=f"{message}\n", headers={**headers, "X-ClickHouse-Exception-Code": str(code)}
    )
