"""Counts of the bench, out of what processes export."""

from collections import Counter

from bench.operations import COUNTED, counted, per_job
from services.runtime.metrics import METRICS, exported

EXPOSITION = """\
# HELP jobledger_events_recorded_total Events
jobledger_events_recorded_total{partition="0"} 3.0
jobledger_events_recorded_total{partition="1"} 4.0
jobledger_transaction_seconds_count{partition="0"} 2.0
jobledger_transaction_seconds_sum{partition="0"} 0.5
jobledger_jobs_live{partition="0"} 9.0
python_gc_objects_collected_total{generation="0"} 5.0
"""


def test_counts_are_summed_over_labels_and_nothing_else_is_taken() -> None:
    assert counted(EXPOSITION) == {"events": 7.0, "Kafka transactions": 2.0}


def test_every_counted_metric_is_one_that_is_exported() -> None:
    names = {exported(name).removeprefix("jobledger_") for name in METRICS}
    assert {name.removesuffix("_count") for name in COUNTED} <= names


def test_what_was_done_is_divided_by_jobs_and_what_was_not_is_left_out() -> None:
    before, after = Counter({"events": 7, "calls": 3}), Counter({"events": 29, "calls": 3, "new": 1})
    assert per_job(before, after, 2) == {"events": 11.0, "new": 0.5}
