"""Metrics are declared once, and every call in the code fits its declaration."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import services
from services.runtime.metrics import LABELS, Counted, Level, Timed, count, exposition, level, timed

ROOT = Path(services.__file__).parent.parent
DECLARED = {"count": get_args(Counted), "level": get_args(Level), "timed": get_args(Timed)}


def calls() -> Iterator[tuple[str, str, str, set[str]]]:
    """Find every use of the three functions: place, function, metric and labels."""
    for package in ("services", "projections", "api"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                match node:
                    case ast.Call(func=ast.Name(id="count" | "level" | "timed" as function), args=[first, *_]):
                        assert isinstance(first, ast.Constant), f"{path}:{node.lineno}: name the metric literally"
                        labels = {keyword.arg or "**" for keyword in node.keywords} - {"amount", "value", "seconds"}
                        yield f"{path.relative_to(ROOT)}:{node.lineno}", function, str(first.value), labels


def test_every_call_names_a_declared_metric_and_exactly_its_labels() -> None:
    found = list(calls())
    assert len(found) > 10
    for place, function, metric, labels in found:
        assert metric in DECLARED[function], f"{place}: {metric} is not declared"
        assert labels == set(LABELS.get(metric, ())), f"{place}: {metric} takes {LABELS.get(metric, ())}"  # type: ignore[call-overload]


def test_labels_belong_to_declared_metrics_and_no_metric_is_declared_twice() -> None:
    names = [name for group in DECLARED.values() for name in group]
    assert len(set(names)) == len(names)
    assert set(LABELS) <= set(names)


def test_what_was_measured_is_exported_with_unit_and_labels() -> None:
    count("dead_letters", origin="commands", reason="bad_message")
    level("lag", 3, process="probe", partition="1")
    timed("node_seconds", 0.2, kind="service")
    text = exposition().decode()
    assert 'jobledger_dead_letters_total{origin="commands",reason="bad_message"} 1.0' in text
    assert 'jobledger_lag{partition="1",process="probe"} 3.0' in text
    assert 'jobledger_node_seconds_count{kind="service"} 1.0' in text
