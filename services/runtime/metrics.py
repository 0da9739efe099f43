"""Every metric of every process: its name, unit and labels, in one place."""

from functools import cache
from typing import Literal

from prometheus_client import REGISTRY, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

Counted = Literal[
    "commands_decided",  # commands
    "commands_resent",  # commands that got no reply in time and were sent again
    "events_recorded",  # events
    "events_folded",  # events
    "events_repeated",  # events dropped because they lay at or below the checkpoint
    "events_of_unknown_type",  # events that this version does not know
    "dead_letters",  # records parked
    "http_requests",  # requests answered
    "nodes_finished",  # visits of workflow nodes
    "deliveries_written",  # deliveries answered
    "deliveries_given_up",  # deliveries dead-lettered: tries used up, or their destination closed
    "gate_verdicts",  # jobs whose gate opened, or closed for good, without an ACK: alarm on any that nobody asked for
    "delivery_rows_written",  # rows
    "heads_signed",  # signed heads of orgs' chains
]
Level = Literal[
    "position",  # position last folded or recorded
    "lag",  # positions between the head of the log and the position
    "commands_waiting",  # commands on the broker that are not decided yet
    "jobs_live",  # jobs in a decider's memory that have not ended
    "tasks_running",  # tasks in this worker
    "worker_slots_free",  # tasks that this worker could take now
    "process_ready",  # 1: the part makes progress, 0: it does not
]
Timed = Literal[
    "transaction_seconds",  # begin until commit returned
    "http_request_seconds",  # request read until answer written
    "node_seconds",  # one visit of a workflow node
    "delivery_batch_seconds",  # one batch written to a destination
    "webhook_seconds",  # one call to a webhook endpoint
    "projection_batch_seconds",  # one batch folded and committed
    "reply_seconds",  # command sent until reply heard
]
LABELS: dict[Counted | Level | Timed, tuple[str, ...]] = {
    "commands_decided": ("partition",),
    "events_recorded": ("partition",),
    "events_folded": ("reader", "event_type"),
    "dead_letters": ("origin", "reason"),  # origin: the topic
    "http_requests": ("method", "route", "status"),  # route: its pattern
    "nodes_finished": ("kind", "outcome"),
    "deliveries_written": ("destination_kind", "outcome"),  # acked or failed
    "deliveries_given_up": ("partition", "closed"),  # closed: true or false
    "gate_verdicts": ("partition", "verdict", "reason"),  # verdict: waived or failed
    "delivery_rows_written": ("destination_kind",),
    "heads_signed": ("partition",),
    "position": ("process", "partition"),
    "lag": ("process", "partition"),
    "commands_waiting": ("partition",),
    "jobs_live": ("partition",),
    "process_ready": ("part",),
    "transaction_seconds": ("partition",),
    "http_request_seconds": ("method", "route"),
    "node_seconds": ("kind",),
    "delivery_batch_seconds": ("destination_kind",),
    "webhook_seconds": ("outcome",),  # acked, or the class of the error
    "projection_batch_seconds": ("reader",),
    "reply_seconds": ("command",),
}


def count(name: Counted, amount: float = 1.0, **labels: str) -> None:
    """Add to a counter; exported as `jobledger_<name>_total`."""
    metric = _counter(name)
    (metric.labels(**labels) if labels else metric).inc(amount)


def level(name: Level, value: float, **labels: str) -> None:
    """Set a gauge; exported as `jobledger_<name>`."""
    metric = _gauge(name)
    (metric.labels(**labels) if labels else metric).set(value)


def timed(name: Timed, seconds: float, **labels: str) -> None:
    """Observe a duration in seconds; exported as the histogram `jobledger_<name>`."""
    metric = _histogram(name)
    (metric.labels(**labels) if labels else metric).observe(seconds)


def exposition() -> bytes:
    """Return every metric that this process has used, in the text format of Prometheus."""
    return generate_latest(REGISTRY)


@cache
def _counter(name: Counted) -> Counter:
    return Counter(f"jobledger_{name}", _meaning(name), LABELS.get(name, ()))


@cache
def _gauge(name: Level) -> Gauge:
    return Gauge(f"jobledger_{name}", _meaning(name), LABELS.get(name, ()))


@cache
def _histogram(name: Timed) -> Histogram:
    return Histogram(f"jobledger_{name}", _meaning(name), LABELS.get(name, ()), buckets=BUCKETS_SECONDS)


def _meaning(name: str) -> str:
    return name.replace("_", " ").capitalize()
