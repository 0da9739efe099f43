"""The page of docs/ on metrics, made from their declarations."""

from services.runtime.metrics import METRICS, exported, kind_of

ABOUT = """\
# Metrics

Generated from `services/runtime/metrics.py` by `python -m services.cli.docs_check --write`; do not edit.

Every process answers `GET /metrics` on its port (`jobledger status` names it) in the text format of Prometheus. What is
declared for a process is exported from its start on; beside it are the `python_*` and `process_*` metrics of the client
library. Histograms are in seconds. What to watch is in [visibility](visibility.md).

`writers` are all kinds of bulk-writers: each exports the whole list and moves what it uses."""


def metrics_page() -> str:
    """Return the page on metrics."""
    rows = [
        f"| `{exported(name)}` | {kind_of(name)} | {metric.unit} | {', '.join(metric.labels) or '-'} "
        f"| {', '.join(metric.processes)} | {metric.meaning} |"
        for name, metric in METRICS.items()
    ]
    head = ["| metric | kind | unit | labels | processes | meaning |", "|---|---|---|---|---|---|"]
    return "\n".join([ABOUT, "", *head, *rows, ""])
