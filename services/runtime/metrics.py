"""Every metric of every process: its name, unit and labels, in one place."""

from functools import cache
from typing import Literal

from prometheus_client import REGISTRY, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

Counted = Literal[
    "commands_decided",  # commands; partition, command (class name), outcome: done, granted, refused, drop
    "commands_resent",  # commands that got no reply in time and were sent again
    "events_recorded",  # events; partition, event_type
    "events_folded",  # events; reader (projection or process), event_type
    "events_repeated",  # events dropped because they lay at or below the checkpoint
    "events_of_unknown_type",  # events that this version does not know
    "replies_unreadable",  # replies
    "dead_letters",  # records parked; origin (topic), reason
    "http_requests",  # requests; method, route (the pattern), status
    "nodes_finished",  # node visits; kind, outcome
    "deliveries_written",  # deliveries; destination_kind, outcome: acked, failed
    "delivery_rows_written",  # rows; destination_kind
]
Level = Literal[
    "position",  # position last folded or recorded; process, partition
    "lag",  # positions between the head of the log and the position; process, partition
    "commands_waiting",  # commands read but not yet decided; partition
    "jobs_live",  # jobs in a decider's memory; partition
    "jobs_in_flight",  # jobs dispatched or running; partition
    "tasks_running",  # tasks in this worker
    "worker_slots_free",  # tasks this worker could take now
    "process_ready",  # 1: ready, 0: not; part
    "sse_clients",  # open event streams
]
Timed = Literal[
    "transaction_seconds",  # begin to commit returned; partition
    "decide_seconds",  # one batch, without the transaction; partition
    "http_request_seconds",  # method, route
    "node_seconds",  # one node visit; kind
    "delivery_batch_seconds",  # one batch written to a destination; destination_kind
    "projection_batch_seconds",  # one batch folded and committed; reader
    "reply_seconds",  # ask to reply; command (class name)
]


def count(name: Counted, amount: float = 1.0, **labels: str) -> None:
    """Add to a counter; exported as `jobledger_<name>_total`."""
    metric = _counter(name, tuple(sorted(labels)))
    (metric.labels(**labels) if labels else metric).inc(amount)


def level(name: Level, value: float, **labels: str) -> None:
    """Set a gauge; exported as `jobledger_<name>`."""
    metric = _gauge(name, tuple(sorted(labels)))
    (metric.labels(**labels) if labels else metric).set(value)


def timed(name: Timed, seconds: float, **labels: str) -> None:
    """Observe a duration in seconds; exported as the histogram `jobledger_<name>`."""
    metric = _histogram(name, tuple(sorted(labels)))
    (metric.labels(**labels) if labels else metric).observe(seconds)


def http_request(method: str, route: str, status: int, seconds: float) -> None:
    """Record one HTTP request that was answered; `route` is the pattern, never the path."""
    count("http_requests", method=method, route=route, status=str(status))
    timed("http_request_seconds", seconds, method=method, route=route)


def exposition() -> bytes:
    """Return every metric of this process in the text format of Prometheus."""
    return generate_latest(REGISTRY)


# A metric is registered at its first use, under the labels of that use; other labels later are an error.


@cache
def _counter(name: str, labels: tuple[str, ...]) -> Counter:
    return Counter(f"jobledger_{name}", name.replace("_", " "), labels)


@cache
def _gauge(name: str, labels: tuple[str, ...]) -> Gauge:
    return Gauge(f"jobledger_{name}", name.replace("_", " "), labels)


@cache
def _histogram(name: str, labels: tuple[str, ...]) -> Histogram:
    return Histogram(f"jobledger_{name}", name.replace("_", " "), labels, buckets=SECONDS)
