"""Every metric of every process, in one place: name, meaning, unit, labels, and who exports it.

docs/metrics.md is made from this table, and each process exports what is declared for it from its start on.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from prometheus_client import REGISTRY, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

Counted = Literal[
    "commands_decided",
    "commands_resent",
    "events_recorded",
    "events_folded",
    "events_repeated",
    "events_of_unknown_type",
    "events_not_ours",
    "dead_letters",
    "http_requests",
    "items_told",
    "item_chunk_bytes",
    "spider_runs",
    "spider_items",
    "spider_lines",
    "spider_stored_bytes",
    "nodes_finished",
    "provider_calls",
    "deliveries_written",
    "deliveries_given_up",
    "endpoints_disabled",
    "webhook_attempts_lost",
    "webhook_throttlings",
    "gate_verdicts",
    "delivery_rows_written",
    "heads_signed",
    "schedule_fires",
    "results_expired",
    "snapshots_refused",
    "snapshots_written",
    "stream_events_sent",
    "stream_resets",
    "streams_ended",
    "verify_runs",
    "warehouse_blocks_paced",
]
Level = Literal[
    "position",
    "lag",
    "commands_waiting",
    "records_waiting",
    "jobs_live",
    "tasks_running",
    "worker_slots_free",
    "process_ready",
    "destinations_unavailable",
    "streams_open",
    "workbooks_made",
    "streams_watched_jobs",
    "schedules_overdue",
    "circuit_open",
    "deliveries_overdue",
    "gate_age",
    "webhook_endpoints_throttled",
    "rebuild_events_left",
    "verify_violations",
    "verify_good_position",
    "verify_good_age",
]
Timed = Literal[
    "restore_seconds",
    "snapshot_seconds",
    "transaction_seconds",
    "http_request_seconds",
    "node_seconds",
    "delivery_batch_seconds",
    "webhook_seconds",
    "projection_batch_seconds",
    "reply_seconds",
    "fire_seconds",
]
Name = Counted | Level | Timed
Kind = Literal["counter", "gauge", "histogram"]

DECIDER, WORKERS, WRITERS, API = "decider", "workers", "writers", "api"
MODULE_WORKERS, SPIDER_WORKERS = "workers-module", "workers-spider"
POSTGRES, CLICKHOUSE, HEADS = "projections", "projections-clickhouse", "projections-heads"
SNAPSHOTTER, SCHEDULER, REBUILD, VERIFICATION = "snapshotter", "scheduler", "rebuild", "verification"
ALL_WORKERS = (WORKERS, MODULE_WORKERS, SPIDER_WORKERS)
SERVING = (DECIDER, *ALL_WORKERS, WRITERS, POSTGRES, CLICKHOUSE, HEADS, SNAPSHOTTER, SCHEDULER, API, VERIFICATION)
PROCESSES = (*SERVING, REBUILD)
PROJECTIONS, STREAMS, ASKERS = (
    (POSTGRES, CLICKHOUSE, HEADS, SNAPSHOTTER),
    (*ALL_WORKERS, WRITERS),
    (*ALL_WORKERS, WRITERS, SCHEDULER, API),
)


@dataclass(frozen=True, slots=True)
class Metric:
    """A declaration. `processes` are the services whose /metrics have it."""

    meaning: str
    unit: str
    processes: tuple[str, ...]
    labels: tuple[str, ...] = ()


METRICS: dict[Name, Metric] = {
    "commands_decided": Metric("Commands decided, refused ones too", "commands", (DECIDER,), ("partition",)),
    "commands_resent": Metric("Commands that got no reply in time and were sent again", "commands", ASKERS),
    "events_recorded": Metric("Events committed to the log", "events", (DECIDER,), ("partition",)),
    "events_folded": Metric(
        "Events folded into a read model; event_type is `all` where they are not told apart",
        "events",
        (POSTGRES, CLICKHOUSE, REBUILD),
        ("reader", "event_type"),
    ),
    "events_repeated": Metric(
        "Events dropped because they lay at or below the checkpoint", "events", (*PROJECTIONS, API, REBUILD)
    ),
    "events_of_unknown_type": Metric(
        "Events that this version does not know", "events", (POSTGRES, SNAPSHOTTER, API, REBUILD)
    ),
    "events_not_ours": Metric(
        "Records on the topic of events that the decider did not write, left out by a reader",
        "records",
        (DECIDER, *PROJECTIONS, API, REBUILD),
        ("reader",),
    ),
    "dead_letters": Metric(
        "Records parked because they cannot be used; origin is their topic",
        "records",
        (DECIDER, *ASKERS, POSTGRES),
        ("origin", "reason"),
    ),
    "http_requests": Metric(
        "Requests answered; route is the pattern of the path", "requests", (API,), ("method", "route", "status")
    ),
    "items_told": Metric(
        "Planned items of module jobs whose outcome was stored and told to the ledger; outcome is succeeded or failed",
        "items",
        (MODULE_WORKERS,),
        ("module", "outcome"),
    ),
    "item_chunk_bytes": Metric(
        "Chunks of items stored and told to the ledger, as packed", "bytes", (MODULE_WORKERS,), ("module",)
    ),
    "spider_runs": Metric(
        "Runs of spiders that ended; outcome is finished, or why not: memory_limit, timed_out, critical_log ...",
        "runs",
        (SPIDER_WORKERS,),
        ("outcome",),
    ),
    "spider_items": Metric("Items of spiders stored and told to the ledger", "items", (SPIDER_WORKERS,)),
    "spider_lines": Metric("Lines of logs of spiders stored and told to the ledger", "lines", (SPIDER_WORKERS,)),
    "spider_stored_bytes": Metric(
        "Chunks of items and bundles of lines of spiders stored and told to the ledger; what is items or lines",
        "bytes",
        (SPIDER_WORKERS,),
        ("what",),
    ),
    "nodes_finished": Metric("Visits of workflow nodes", "visits", (WORKERS,), ("kind", "outcome")),
    "provider_calls": Metric(
        "Calls of providers with a credential; outcome is fetched or an error type, billed whether they are charged",
        "calls",
        (WORKERS,),
        ("provider", "outcome", "billed"),
    ),
    "deliveries_written": Metric(
        "Deliveries answered; outcome is acked or failed", "deliveries", (WRITERS,), ("destination_kind", "outcome")
    ),
    "deliveries_given_up": Metric(
        "Deliveries dead-lettered: tries used up, or (closed is true) their destination was closed",
        "deliveries",
        (DECIDER,),
        ("partition", "closed"),
    ),
    "endpoints_disabled": Metric(
        "Endpoints of webhooks disabled: failing (nothing but failures came of them for days) or gone (410)",
        "endpoints",
        (DECIDER,),
        ("partition", "reason"),
    ),
    "gate_verdicts": Metric(
        "Jobs whose gate opened (waived) or closed for good (failed) without an ACK: alarm on what nobody asked for",
        "jobs",
        (DECIDER,),
        ("partition", "verdict", "reason"),
    ),
    "delivery_rows_written": Metric("Rows that deliveries brought", "rows", (WRITERS,), ("destination_kind",)),
    "destinations_unavailable": Metric(
        "Customers' warehouses that failed several times in a row and are asked once an interval only",
        "destinations",
        (WRITERS,),
        ("destination_kind",),
    ),
    "warehouse_blocks_paced": Metric(
        "Blocks that waited, and grew, because their destination had had its share of the hour: see its quota",
        "blocks",
        (WRITERS,),
        ("destination_kind",),
    ),
    "heads_signed": Metric("Signed heads of orgs' chains", "heads", (HEADS,), ("partition",)),
    "results_expired": Metric("Jobs whose results were past retention and are purged", "jobs", (SCHEDULER,)),
    "schedule_fires": Metric(
        "Fires of schedules recorded; how is cron, trigger or missed, outcome is submitted, refused or skipped",
        "fires",
        (DECIDER,),
        ("partition", "how", "outcome"),
    ),
    "snapshots_refused": Metric(
        "Snapshots that nothing could begin with, so that more had to be read from the log: look why",
        "snapshots",
        (DECIDER, SNAPSHOTTER),
        ("partition", "reason"),
    ),
    "snapshots_written": Metric("Snapshots written", "snapshots", (SNAPSHOTTER,), ("partition",)),
    "stream_events_sent": Metric("Events of jobs sent to viewers, snapshots not counted", "events", (API,)),
    "stream_resets": Metric(
        "Streams that began anew with a snapshot: too_old, unknown, other_partition, slow",
        "resets",
        (API,),
        ("reason",),
    ),
    "streams_ended": Metric(
        "Streams that ended: done, viewer (left), slow (did not read), age, shutdown, deleted, unauthenticated, fault",
        "streams",
        (API,),
        ("reason",),
    ),
    "verify_runs": Metric(
        "Verifications of the whole ledger; outcome is good, violations, or failed (it could not be made)",
        "verifications",
        (VERIFICATION,),
        ("outcome",),
    ),
    "streams_open": Metric("Streams of jobs that are open", "streams", (API,)),
    "workbooks_made": Metric("XLSX workbooks that are being made or sent; 4 at most", "workbooks", (API,)),
    "streams_watched_jobs": Metric("Jobs that open streams share", "jobs", (API,)),
    "position": Metric(
        "Position of the last event recorded or folded", "positions", (DECIDER, *PROJECTIONS), ("process", "partition")
    ),
    "lag": Metric(
        "Events between the head of the log and the position", "positions", PROJECTIONS, ("process", "partition")
    ),
    "commands_waiting": Metric(
        "Commands on the broker that are not decided yet", "commands", (DECIDER,), ("partition",)
    ),
    "records_waiting": Metric(
        "Records of a topic that the consumer group has not finished, markers of transactions between them included",
        "offsets",
        STREAMS,
        ("topic", "partition"),
    ),
    "jobs_live": Metric("Jobs in a decider's memory that have not ended", "jobs", (DECIDER,), ("partition",)),
    "tasks_running": Metric("Jobs that this worker runs now", "jobs", ALL_WORKERS),
    "worker_slots_free": Metric("Tasks that this worker could take now", "tasks", ALL_WORKERS),
    "process_ready": Metric("1: the part of the process makes progress, 0: it does not", "0 or 1", SERVING, ("part",)),
    "circuit_open": Metric(
        "1 while a destination is down and one batch at a time is tried there, else 0: alarm on 1",
        "circuits",
        (WRITERS,),
        ("destination_kind",),
    ),
    "deliveries_overdue": Metric(
        "Deliveries that are due and wait until others that were sent again are answered",
        "deliveries",
        (DECIDER,),
        ("partition",),
    ),
    "gate_age": Metric(
        "Since the extraction of the job that waits longest for the ACKs of its gate; 0: none waits",
        "seconds of age",
        (DECIDER,),
        ("partition",),
    ),
    "schedules_overdue": Metric("Schedules that are due and not fired yet", "schedules", (SCHEDULER,)),
    "rebuild_events_left": Metric(
        "Events that the version being built lacks, up to where the version in use was when last looked at",
        "events",
        (REBUILD,),
        ("read_model",),
    ),
    "verify_violations": Metric(
        "What the last verification found that is not as the log says, by table (or log); alarm on more than 0",
        "violations",
        (VERIFICATION,),
        ("kind",),
    ),
    "verify_good_position": Metric(
        "Position up to which the last verification without a violation compared",
        "positions",
        (VERIFICATION,),
        ("partition",),
    ),
    "verify_good_age": Metric(
        "Since the last verification without a violation began, or the process: alarm where it grows for hours",
        "seconds of age",
        (VERIFICATION,),
    ),
    "restore_seconds": Metric(
        "A partition's state read back, from its snapshot and from the log up to the fence",
        "seconds",
        (DECIDER,),
        ("partition",),
    ),
    "snapshot_seconds": Metric("One snapshot written", "seconds", (SNAPSHOTTER,), ("partition",)),
    "transaction_seconds": Metric("From begin until commit returned", "seconds", (DECIDER,), ("partition",)),
    "http_request_seconds": Metric(
        "From a request read until its answer was written", "seconds", (API,), ("method", "route")
    ),
    "node_seconds": Metric("One visit of a workflow node", "seconds", (WORKERS,), ("kind",)),
    "delivery_batch_seconds": Metric(
        "One batch written to a destination", "seconds", (WRITERS,), ("destination_kind",)
    ),
    "webhook_seconds": Metric(
        "One call to a webhook endpoint; outcome is acked or the class of the error",
        "seconds",
        (WRITERS,),
        ("outcome",),
    ),
    "webhook_attempts_lost": Metric(
        "Tries that are missing from the log of attempts because Postgres was away", "tries", (WRITERS,)
    ),
    "webhook_throttlings": Metric(
        "Answers of endpoints that asked for fewer calls; status as they answered", "answers", (WRITERS,), ("status",)
    ),
    "webhook_endpoints_throttled": Metric("Endpoints that are called less than usual", "endpoints", (WRITERS,)),
    "projection_batch_seconds": Metric("One batch folded and committed", "seconds", PROJECTIONS, ("reader",)),
    "fire_seconds": Metric(
        "From the due time of a schedule until its fire was recorded, of fires in time", "seconds", (SCHEDULER,)
    ),
    "reply_seconds": Metric("From a command sent until its reply was heard", "seconds", ASKERS, ("command",)),
}


def count(name: Counted, amount: float = 1.0, **labels: str) -> None:
    """Add to a counter; exported as `jobledger_<name>_total`."""
    _counter(name, *labels.items()).inc(amount)


def level(name: Level, value: float, **labels: str) -> None:
    """Set a gauge; exported as `jobledger_<name>`."""
    _gauge(name, *labels.items()).set(value)


def timed(name: Timed, seconds: float, **labels: str) -> None:
    """Observe a duration in seconds; exported as the histogram `jobledger_<name>`."""
    _histogram(name, *labels.items()).observe(seconds)


def kind_of(name: Name) -> Kind:
    """Return which kind of metric a declared one is."""
    return "counter" if name in get_args(Counted) else "gauge" if name in get_args(Level) else "histogram"


def exported(name: Name) -> str:
    """Return the name under which a metric is exported."""
    return f"jobledger_{name}_total" if kind_of(name) == "counter" else f"jobledger_{name}"


def declared_for(process: str) -> list[Name]:
    """Return the metrics of one process."""
    return [name for name, metric in METRICS.items() if process in metric.processes]


def expose(names: Iterable[Name]) -> None:
    """Export these metrics from now on, also before their first use."""
    disable_created_metrics()  # type: ignore[no-untyped-call]
    for name in names:
        match kind_of(name):
            case "counter":
                _counter(name)
            case "gauge":
                _gauge(name)
            case "histogram":
                _histogram(name)


def exposition() -> bytes:
    """Return every metric of this process in the text format of Prometheus."""
    return generate_latest(REGISTRY)


# Cached with their labels too: the library sorts and compares those anew at each look.
@cache
def _counter(name: Name, *labels: tuple[str, str]) -> Counter:
    if labels:
        return _counter(name).labels(**dict(labels))
    return Counter(f"jobledger_{name}", METRICS[name].meaning, METRICS[name].labels)


@cache
def _gauge(name: Name, *labels: tuple[str, str]) -> Gauge:
    if labels:
        return _gauge(name).labels(**dict(labels))
    return Gauge(f"jobledger_{name}", METRICS[name].meaning, METRICS[name].labels)


@cache
def _histogram(name: Name, *labels: tuple[str, str]) -> Histogram:
    if labels:
        return _histogram(name).labels(**dict(labels))
    return Histogram(f"jobledger_{name}", METRICS[name].meaning, METRICS[name].labels, buckets=BUCKETS_SECONDS)
