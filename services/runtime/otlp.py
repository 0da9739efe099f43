"""Sends spans to an OTLP receiver over HTTP, by the SDK of OpenTelemetry, in the background; none is waited for."""

import threading

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    StatusCode,
    TraceFlags,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from services.runtime.tracing import Span, span_id, trace_id

SEND_SECONDS = 5.0  # for one batch
CLOSE_SECONDS = 3.0  # a process leaves within 10 s of a signal
QUEUED_SPANS = 16_384  # beyond, spans are dropped
NANOS = 1_000  # in a microsecond


class Exporting:
    """Sends what it is told until it is closed; from any thread."""

    def __init__(self, url: str, service: str) -> None:
        self._ids = _Planned()
        self._provider = TracerProvider(
            sampler=ALWAYS_ON,  # which jobs are told of is decided before
            resource=Resource({"service.name": service, "service.namespace": "jobledger"}),
            id_generator=self._ids,
            shutdown_on_exit=False,
        )
        exporter = OTLPSpanExporter(endpoint=f"{url.rstrip('/')}/v1/traces", timeout=SEND_SECONDS)
        self._provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=QUEUED_SPANS))
        self._tracer = self._provider.get_tracer("jobledger")

    def tell(self, span: Span) -> None:
        """Queue a span to be sent."""
        trace = trace_id(span.job_id)
        self._ids.plan(trace, span_id(span.job_id, span.name, span.key))
        made = self._tracer.start_span(
            span.name,
            context=Context() if span.is_root else _below(trace, span_id(span.job_id, *span.parent)),
            kind=SpanKind.INTERNAL,
            attributes={f"jobledger.{name}": value for name, value in span.attributes.items() if value != ""}
            | {"jobledger.job_id": span.job_id},
            links=_links(span.caller),
            start_time=span.began * NANOS,
        )
        if span.failed:
            made.set_status(StatusCode.ERROR)
        made.end(max(span.began, span.ended) * NANOS)

    def close(self) -> None:
        """Send what is queued, for a while: a receiver that is away must not keep a process from leaving."""
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)


class _Planned(IdGenerator):
    """Gives out the ids that were planned by the same thread just before."""

    def __init__(self) -> None:
        self._next = threading.local()

    def plan(self, trace: int, span: int) -> None:
        self._next.trace, self._next.span = trace, span

    def generate_trace_id(self) -> int:
        return int(self._next.trace)

    def generate_span_id(self) -> int:
        return int(self._next.span)


def _below(trace: int, parent: int) -> Context:
    return set_span_in_context(
        NonRecordingSpan(SpanContext(trace, parent, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))),
        Context(),
    )


def _links(caller: str) -> list[Link]:
    carried = TraceContextTextMapPropagator().extract({"traceparent": caller}, Context()) if caller else Context()
    context = get_current_span(carried).get_span_context()
    return [Link(context)] if context.is_valid else []
