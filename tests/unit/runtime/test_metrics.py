"""Metrics are declared once, and every call in the code fits its declaration."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import services
from services.localstack.services import SERVICES, WRITERS
from services.runtime.metrics import (
    METRICS,
    PROCESSES,
    Counted,
    Level,
    Timed,
    count,
    declared_for,
    exported,
    exposition,
    level,
    timed,
)

ROOT = Path(services.__file__).parent.parent
DECLARED = {"count": get_args(Counted), "level": get_args(Level), "timed": get_args(Timed)}


Use = tuple[str, str, str, set[str]]  # place, function, metric and labels


@cache
def calls() -> list[Use]:
    """Find every use of the three functions; the whole code is read once."""
    return list(_calls())


def _calls() -> Iterator[Use]:
    for package in ("services", "projections", "api"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                match node:
                    case ast.Call(func=ast.Name(id="count" | "level" | "timed" as function), args=[first, *_]):
                        assert isinstance(first, ast.Constant), f"{path}:{node.lineno}: name the metric literally"
                        labels = {keyword.arg or "**" for keyword in node.keywords} - {"amount", "value", "seconds"}
                        yield f"{path.relative_to(ROOT)}:{node.lineno}", function, str(first.value), labels


def test_every_call_names_a_declared_metric_and_exactly_its_labels() -> None:
    assert len(calls()) > 10
    for place, function, metric, labels in calls():
        assert metric in DECLARED[function], f"{place}: {metric} is not declared"
        assert labels == set(METRICS[metric].labels), f"{place}: {metric} takes {METRICS[metric].labels}"  # type: ignore[index]


def test_every_name_is_declared_once_with_meaning_unit_and_processes_and_used_somewhere() -> None:
    names = [name for group in DECLARED.values() for name in group]
    assert len(set(names)) == len(names)
    assert set(METRICS) == set(names)
    assert set(names) == {metric for _, _, metric, _ in calls()}
    for metric in METRICS.values():
        assert metric.meaning
        assert metric.unit
        assert metric.processes
        assert set(metric.processes) <= set(PROCESSES)


def test_every_process_of_the_stack_has_metrics_that_it_exports_from_its_start_on() -> None:
    for service in SERVICES:
        process = "writers" if service.name in WRITERS else service.name
        assert "process_ready" in declared_for(process), process


def test_a_worker_of_modules_exports_what_every_worker_does_and_its_items_but_no_nodes() -> None:
    own, others = set(declared_for("workers-module")), set(declared_for("workers"))
    assert own - others == {"items_told", "item_chunk_bytes"}
    assert others - own == {"nodes_finished", "node_seconds", "provider_calls"}


def test_names_follow_the_conventions_of_prometheus() -> None:
    for name, metric in METRICS.items():
        told = exported(name)
        assert re.fullmatch(r"jobledger_[a-z]+(_[a-z]+)*", told)
        assert told.endswith("_total") == (name in DECLARED["count"])
        assert told.endswith("_seconds") == (metric.unit == "seconds") == (name in DECLARED["timed"])


def test_what_was_measured_is_exported_with_unit_and_labels() -> None:
    count("dead_letters", origin="probe", reason="bad_message")
    level("lag", 3, process="probe", partition="1")
    timed("node_seconds", 0.2, kind="probe")
    text = exposition().decode()
    assert 'jobledger_dead_letters_total{origin="probe",reason="bad_message"} 1.0' in text
    assert 'jobledger_lag{partition="1",process="probe"} 3.0' in text
    assert 'jobledger_node_seconds_count{kind="probe"} 1.0' in text
