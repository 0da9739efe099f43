"""A receiver of OTLP over HTTP, on a real socket: what it was sent, as plain data."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True, slots=True)
class Told:
    """One span."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str  # "": it is a root
    seconds: float
    attributes: dict[str, Any]
    links: tuple[str, ...]  # trace ids


@dataclass(slots=True)
class Receiver:
    """What came, and where it listens."""

    url: str = ""
    spans: list[Told] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def of(self, job_id: str) -> list[Told]:
        """Return the spans of a job, each once."""
        trace = job_id.replace("-", "")
        return list({span.span_id: span for span in self.spans if span.trace_id == trace}.values())

    def take(self, body: bytes) -> None:
        """Read one request."""
        self.bodies.append(body)
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            named = {each.key: each.value.string_value for each in resource.resource.attributes}
            for scope in resource.scope_spans:
                self.spans += [_told(named["service.name"], span) for span in scope.spans]


def _told(service: str, span: Any) -> Told:
    return Told(
        service,
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
        {each.key: next(iter(MessageToDict(each.value).values())) for each in span.attributes},
        tuple(link.trace_id.hex() for link in span.links),
    )


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Listen until the end."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.take(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        receiver.url = f"http://127.0.0.1:{server.server_port}"
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def assert_connected(spans: list[Told]) -> None:
    """Assert that the spans are one tree below one root."""
    ids = {span.span_id for span in spans}
    roots = [span.name for span in spans if not span.parent_id]
    assert roots == ["job"], roots
    assert [span for span in spans if span.parent_id and span.parent_id not in ids] == []
    assert len({span.trace_id for span in spans}) == 1
