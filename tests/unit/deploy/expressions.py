"""What an expression of Prometheus asks for, read by its own grammar: which metrics, with which labels."""

from collections.abc import Iterator

import promql_parser
from promql_parser import (
    AggregateExpr,
    BinaryExpr,
    Call,
    MatrixSelector,
    ParenExpr,
    SubqueryExpr,
    UnaryExpr,
    VectorSelector,
)

from services.runtime.metrics import METRICS, exported, kind_of

SCRAPED = frozenset({"job", "instance"})  # labels that Prometheus adds
OTHERS = {  # of Prometheus itself and of the client library
    "up": frozenset[str](),
    "process_start_time_seconds": frozenset[str](),
    "process_cpu_seconds_total": frozenset[str](),
    "process_resident_memory_bytes": frozenset[str](),
}
INTERVAL = "$__rate_interval"  # Grafana's


def known() -> dict[str, frozenset[str]]:
    """Return the labels of every series that there is, by its name."""
    series: dict[str, frozenset[str]] = dict(OTHERS)
    for name, metric in METRICS.items():
        told, labels = exported(name), frozenset(metric.labels)
        if kind_of(name) == "histogram":
            series |= {f"{told}_sum": labels, f"{told}_count": labels, f"{told}_bucket": labels | {"le"}}
        else:
            series[told] = labels
    return series


def parsed(text: str) -> object:
    """Read an expression; ValueError where it is none."""
    return promql_parser.parse(text.replace(INTERVAL, "5m"))


def selectors(node: object) -> Iterator[tuple[str, set[str]]]:
    """Yield each metric that is asked for, with the labels that it is chosen by."""
    match node:
        case VectorSelector():
            yield node.name or "", {matcher.name for matcher in node.matchers.matchers}
        case MatrixSelector():
            yield from selectors(node.vector_selector)
        case AggregateExpr() | ParenExpr() | UnaryExpr() | SubqueryExpr():
            yield from selectors(node.expr)
        case BinaryExpr():
            yield from selectors(node.lhs)
            yield from selectors(node.rhs)
        case Call():
            for argument in node.args:
                yield from selectors(argument)


def groupings(node: object) -> Iterator[tuple[set[str], set[str]]]:
    """Yield the labels of each `by`, with the metrics that are summed up so."""
    match node:
        case AggregateExpr():
            if node.modifier is not None:
                yield set(node.modifier.labels), {name for name, _ in selectors(node.expr)}
            yield from groupings(node.expr)
        case ParenExpr() | UnaryExpr() | SubqueryExpr():
            yield from groupings(node.expr)
        case BinaryExpr():
            yield from groupings(node.lhs)
            yield from groupings(node.rhs)
        case Call():
            for argument in node.args:
                yield from groupings(argument)


def unknown(text: str) -> list[str]:
    """Return what an expression asks for that no process exports."""
    found, series = parsed(text), known()
    wrong = [name for name, _ in selectors(found) if name not in series]
    wrong += [
        f"{name}{{{label}}}"
        for name, labels in selectors(found)
        for label in labels - SCRAPED - series.get(name, frozenset())
    ]
    wrong += [
        f"by {label} of {name}"
        for labels, names in groupings(found)
        for name in names
        for label in labels - SCRAPED - series.get(name, frozenset())
    ]
    return wrong
