"""Views of deliveries and of the gate say what Python counts in the events themselves."""

from collections import defaultdict
from statistics import fmean
from typing import Any

from schemas.events import (
    DeliveryAcked,
    DeliveryDeadLettered,
    DeliveryEvent,
    DeliveryFailed,
    DeliveryRequested,
    DeliveryWaived,
    JobExtracted,
)
from schemas.recorded import Recorded
from services.ledger.status import TERMINAL
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.views.figures import Row, quantile, same, seconds, stays
from tests.integration.clickhouse.views.history import Jobs, moment, of_type, submitted


def deliveries(jobs: Jobs) -> list[Row]:
    """Return each delivery that was asked for, but for those that take a job away."""
    found = []
    for key, told in jobs.items():
        groups: dict[tuple[str, int], list[Recorded]] = defaultdict(list)
        for recorded in told:
            if isinstance(recorded.event, DeliveryEvent):
                groups[recorded.event.destination_id, recorded.event.generation].append(recorded)
        for name, group in groups.items():
            asked = list(of_type(group, DeliveryRequested))
            first = asked[0].event
            assert isinstance(first, DeliveryRequested)
            if first.erase:
                continue
            acked = next((each.header.occurred_at for each in of_type(group, DeliveryAcked)), None)
            took = acked and seconds(asked[0].header.occurred_at, acked)
            failures = list(of_type(group, DeliveryFailed))
            errors = [each.event.error_type for each in of_type(group, DeliveryFailed, DeliveryDeadLettered)]  # type: ignore[union-attr]
            found.append(
                (
                    *key,
                    *name,
                    first.kind,
                    first.gating,
                    moment(asked[0].header.occurred_at),
                    len(asked),
                    len(failures),
                    errors[-1] if errors else "",
                    acked and moment(acked),
                    next((moment(each.header.occurred_at) for each in of_type(group, DeliveryWaived)), None),
                    next((moment(each.header.occurred_at) for each in of_type(group, DeliveryDeadLettered)), None),
                    took,
                )
            )
    return sorted(found)


def test_each_delivery_is_shown_once_by_its_first_answer(jobs: Jobs, rows: Rows) -> None:
    found = rows(
        "SELECT org_id, job_id, destination_id, generation, kind, gating, requested_at, tries, failures, last_error, "
        "acked_at, waived_at, given_up_at, seconds FROM deliveries ORDER BY 1, 2, 3, 4"
    )
    wanted = deliveries(jobs)
    assert any(row[3] > 1 for row in wanted)
    same(found, wanted)


def test_the_quality_of_each_destination_is_that_of_its_deliveries(jobs: Jobs, rows: Rows) -> None:
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in deliveries(jobs):
        groups[row[0], row[6].replace(minute=0, second=0, microsecond=0), row[2], row[4]].append(row)
    wanted = []
    for key, group in groups.items():
        times = [row[13] for row in group if row[10]]
        wanted.append(
            (
                *key,
                len(group),
                len(times),
                sum(row[8] for row in group),
                sum(1 for row in group if row[12]),
                sum(1 for row in group if row[11]),
                fmean(times) if times else None,
                quantile(times, 0.5) if times else None,
                quantile(times, 0.95) if times else None,
            )
        )
    found = rows(
        "SELECT org_id, hour, destination_id, kind, deliveries, acked, failed_tries, given_up, waived, mean_seconds, "
        "p50_seconds, p95_seconds FROM delivery_quality ORDER BY 1, 2, 3, 4"
    )
    same(found, sorted(wanted, key=lambda row: row[:4]))


def gates(jobs: Jobs) -> list[Row]:
    """Return each job that was extracted and has gating destinations."""
    wanted: list[Row] = []
    for key, told in jobs.items():
        parts = {each.destination_id for each in submitted(told).destinations if each.gating}
        extracted = next((each.header.occurred_at for each in of_type(told, JobExtracted)), None)
        if not extracted or not parts:
            continue
        opened: dict[str, int] = {}
        for recorded in of_type(told, DeliveryAcked, DeliveryWaived):
            assert isinstance(recorded.event, DeliveryAcked | DeliveryWaived)
            if recorded.event.destination_id in parts:
                opened.setdefault(recorded.event.destination_id, recorded.header.occurred_at)
        at = max(opened.values()) if len(opened) == len(parts) else None
        ended = next((moved for _, state, moved in stays(told) if state in TERMINAL), None)
        wanted.append(
            (
                *key,
                moment(extracted),
                len(parts),
                len(opened),
                sorted(parts - opened.keys()),
                at and moment(at),
                ended and moment(ended),
                at and seconds(extracted, at),
            )
        )
    return sorted(wanted)


def test_each_gate_says_how_long_it_was_closed_and_who_is_missing(jobs: Jobs, rows: Rows) -> None:
    found = rows(
        "SELECT org_id, job_id, extracted_at, expected, opened, pending, opened_at, ended_at, seconds FROM gate_ages "
        "ORDER BY 1, 2"
    )
    assert any(row[5] for row in found)
    same(found, gates(jobs))
