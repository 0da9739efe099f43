"""The dashboard of operations: what the processes export, drawn by Grafana from Prometheus."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

SOURCE = {"type": "prometheus", "uid": "jobledger-prometheus"}
SCHEMA_VERSION = 38  # of Grafana 10.1, as that of the other dashboards
COLUMNS, WIDTH, HEIGHT = 24, 12, 8  # of Grafana's grid, and of a panel in it
Unit = Literal["short", "s", "reqps", "ops", "percentunit", "bytes"]


@dataclass(frozen=True, slots=True)
class Panel:
    """A picture: `lines` are expressions and what they are called."""

    title: str
    about: str
    unit: Unit
    lines: tuple[tuple[str, str], ...]


def _p(quantile: float, metric: str, by: str = "") -> str:
    """The expression of a quantile of a histogram in seconds."""
    labels = f"le, {by}" if by else "le"
    return (
        f"histogram_quantile({quantile}, sum by ({labels}) (rate(jobledger_{metric}_seconds_bucket[$__rate_interval])))"
    )


def _rate(metric: str, by: str, *, where: str = "") -> str:
    return f"sum by ({by}) (rate(jobledger_{metric}_total{where}[$__rate_interval]))"


PANELS = (
    Panel(
        "Parts that stand still",
        "0: the part makes no progress; its process says in /ready what it waits for.",
        "short",
        (("min by (job, instance, part) (jobledger_process_ready) == 0", "{{job}} {{instance}} {{part}}"),),
    ),
    Panel(
        "Starts",
        "Starts of processes within 15 minutes: one is an upgrade, several are a crash loop.",
        "short",
        (('changes(process_start_time_seconds{job=~".*jobledger.*"}[15m]) > 0', "{{job}} {{instance}}"),),
    ),
    Panel(
        "Commands and events",
        "Decided and recorded in a second, all partitions.",
        "ops",
        (
            ("sum(rate(jobledger_commands_decided_total[$__rate_interval]))", "commands"),
            ("sum(rate(jobledger_events_recorded_total[$__rate_interval]))", "events"),
        ),
    ),
    Panel(
        "Commands that wait",
        "On the broker and not decided, by partition: above 0 for long, a decider stands still or has too much to do.",
        "short",
        (("max by (partition) (jobledger_commands_waiting)", "{{partition}}"),),
    ),
    Panel(
        "Position lag",
        "Events that a reader of the log has not folded, the worst partition of each.",
        "short",
        (("max by (process) (jobledger_lag)", "{{process}}"),),
    ),
    Panel(
        "Records that wait",
        "Tasks and deliveries that their consumer group has not finished, markers of transactions included.",
        "short",
        (("sum by (topic) (jobledger_records_waiting)", "{{topic}}"),),
    ),
    Panel(
        "Transactions",
        "From begin until commit returned.",
        "s",
        ((_p(0.5, "transaction"), "p50"), (_p(0.99, "transaction"), "p99")),
    ),
    Panel(
        "Replies",
        "From a command sent until its reply was heard, by command; and commands that were sent again.",
        "s",
        (
            (_p(0.99, "reply", "command"), "p99 {{command}}"),
            ("sum(rate(jobledger_commands_resent_total[$__rate_interval]))", "again"),
        ),
    ),
    Panel("Calls", "Answered in a second, by status.", "reqps", ((_rate("http_requests", "status"), "{{status}}"),)),
    Panel(
        "Answer times",
        "Of calls of the API, by route: the slowest hundredth.",
        "s",
        ((_p(0.99, "http_request", "route"), "{{route}}"),),
    ),
    Panel(
        "Live jobs",
        "In the memory of deciders: pending, running, waiting for a retry or at their gate.",
        "short",
        (("sum by (partition) (jobledger_jobs_live)", "{{partition}}"),),
    ),
    Panel(
        "Workers",
        "Jobs that run, and slots that are free.",
        "short",
        (
            ("sum by (job) (jobledger_tasks_running)", "running {{job}}"),
            ("sum by (job) (jobledger_worker_slots_free)", "free {{job}}"),
        ),
    ),
    Panel(
        "Visits of nodes",
        "In a second, by kind and outcome.",
        "ops",
        ((_rate("nodes_finished", "kind, outcome"), "{{kind}} {{outcome}}"),),
    ),
    Panel(
        "Deliveries",
        "Answered in a second, by kind of destination and outcome.",
        "ops",
        ((_rate("deliveries_written", "destination_kind, outcome"), "{{destination_kind}} {{outcome}}"),),
    ),
    Panel(
        "Oldest job at its gate",
        "Since its extraction; a store that is away shows here first.",
        "s",
        (("max(jobledger_gate_age)", "oldest"),),
    ),
    Panel(
        "Deliveries in trouble",
        "In line to be sent again, circuits that are open, warehouses of customers that do not answer.",
        "short",
        (
            ("sum(jobledger_deliveries_overdue)", "in line"),
            ("max by (destination_kind) (jobledger_circuit_open)", "circuit {{destination_kind}}"),
            ("sum by (destination_kind) (jobledger_destinations_unavailable)", "away {{destination_kind}}"),
        ),
    ),
    Panel(
        "Given up",
        "In the last hour: deliveries after all tries, and jobs that went on or ended without an ACK.",
        "short",
        (
            ('sum(increase(jobledger_deliveries_given_up_total{closed="false"}[1h]))', "deliveries"),
            ("sum by (verdict, reason) (increase(jobledger_gate_verdicts_total[1h]))", "{{verdict}}: {{reason}}"),
        ),
    ),
    Panel(
        "Dead letters",
        "Records parked in the last hour, and records on the topic of events that are not ours.",
        "short",
        (
            ("sum by (origin, reason) (increase(jobledger_dead_letters_total[1h]))", "{{origin}}: {{reason}}"),
            ("sum by (reader) (increase(jobledger_events_not_ours_total[1h]))", "not ours, seen by {{reader}}"),
        ),
    ),
    Panel(
        "Violations",
        "What the last verification found that is not as the log says.",
        "short",
        (("max by (kind) (jobledger_verify_violations)", "{{kind}}"),),
    ),
    Panel(
        "Last good verification",
        "Since the last verification without a violation began.",
        "s",
        (("min(jobledger_verify_good_age)", "age"),),
    ),
    Panel(
        "Schedules",
        "Due and not fired; and how late fires are recorded.",
        "s",
        (("max(jobledger_schedules_overdue)", "overdue (number)"), (_p(0.99, "fire"), "p99 of fires")),
    ),
    Panel(
        "Restarts of deciders",
        "How long a partition took to be read back, and snapshots that could not be begun with.",
        "s",
        (
            (_p(0.99, "restore", "partition"), "{{partition}}"),
            ("sum by (reason) (increase(jobledger_snapshots_refused_total[1h]))", "refused: {{reason}}"),
        ),
    ),
    Panel(
        "CPU",
        "Cores that each service uses.",
        "short",
        (('sum by (job) (rate(process_cpu_seconds_total{job=~".*jobledger.*"}[$__rate_interval]))', "{{job}}"),),
    ),
    Panel(
        "Memory",
        "Of each process.",
        "bytes",
        (('process_resident_memory_bytes{job=~".*jobledger.*"}', "{{job}} {{instance}}"),),
    ),
)


def operations_dashboard() -> str:
    """Return the dashboard as Grafana is given it."""
    told = {
        "uid": "jobledger-operations",
        "title": "jobledger: operations",
        "description": "The processes: whether they get on, how far behind they are, what is in trouble.",
        "tags": ["jobledger"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": False,
        "graphTooltip": 1,  # the cross hair in all panels
        "timezone": "utc",
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": []},
        "panels": list(_panels()),
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def _panels() -> Iterator[dict[str, object]]:
    a_row = COLUMNS // WIDTH
    for number, panel in enumerate(PANELS):
        yield {
            "id": number + 1,
            "gridPos": {"h": HEIGHT, "w": WIDTH, "x": number % a_row * WIDTH, "y": number // a_row * HEIGHT},
            "type": "timeseries",
            "title": panel.title,
            "description": panel.about,
            "datasource": SOURCE,
            "targets": [
                {"refId": chr(ord("A") + place), "datasource": SOURCE, "expr": expression, "legendFormat": called}
                for place, (expression, called) in enumerate(panel.lines)
            ],
            "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
            "options": {
                "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
                "tooltip": {"mode": "multi", "sort": "desc"},
            },
        }
