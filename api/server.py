"""The HTTP server under the application: what is no HTTP it answers in the words of the API, not with aiohttp's.

aiohttp sends back, and logs with a traceback, the bytes that it could not read; they may hold a caller's key.
"""

import logging
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong, PayloadEncodingError
from aiohttp.web_protocol import RequestHandler

from api.errors import Problem
from services.runtime.ids import uuid7

log = logging.getLogger(__name__)


MAX_HEADER_BYTES = 8_190  # of one, as aiohttp has it
MAX_LINE_BYTES = 32 * 1024  # of a request: a query may hold a url of 8,192 characters, each percent-encoded


class Runner(web.AppRunner):
    """aiohttp's runner with our protocol; pinned to aiohttp 3.14, some of whose insides it overrides."""

    def __init__(self, app: web.Application, **options: Any) -> None:
        super().__init__(app, max_line_size=MAX_LINE_BYTES, max_field_size=MAX_HEADER_BYTES, **options)

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        return _Server(made.request_handler, request_factory=made.request_factory, loop=made._loop, **made._kwargs)  # noqa: SLF001


def _said(fault: HttpProcessingError) -> str:
    if isinstance(fault, LineTooLong):
        return (
            f"the request line takes at most {MAX_LINE_BYTES} bytes, and a header {MAX_HEADER_BYTES}: send less in them"
        )
    return "this is not a well-formed HTTP request"


class _Server(web.Server):
    def __call__(self) -> RequestHandler:
        return _Protocol(self, loop=self._loop, **self._kwargs)


class _Protocol(RequestHandler):
    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what could not be read as a request; for anything else do as aiohttp does."""
        if not isinstance(exc, HttpProcessingError) or request.writer.output_size > 0:
            return super().handle_error(request, status, exc, message)
        request_id = uuid7()
        log.warning("malformed request", extra={"request_id": request_id, "reason": type(exc).__name__})
        problem = Problem("bad_request", _said(exc))
        response = web.json_response(
            {**problem.body, "requestId": request_id}, status=problem.status, headers={"X-Request-Id": request_id}
        )
        response.force_close()
        return response

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Log a fault of ours with its traceback; an unread body that is not what its header says is none."""
        fault = kw.get("exc_info")
        if isinstance(fault, HttpProcessingError | PayloadEncodingError | web.RequestPayloadError):
            log.warning("malformed body", extra={"reason": type(fault).__name__})
        else:
            super().log_exception(*args, **kw)
