"""Views of providers and of credits say what Python counts in the events themselves."""

from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean
from typing import Any

from schemas.events import (
    NodeFinished,
)
from schemas.recorded import Recorded
from services.ledger.account import movement
from services.ledger.status import TERMINAL
from tests.event_streams import Stream
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.views.figures import quantile, same, stays
from tests.integration.clickhouse.views.history import Jobs, hour, moment, of_type, submitted


def calls(jobs: Jobs) -> Iterator[tuple[tuple[str, str], list[Recorded], Recorded, NodeFinished, int]]:
    """Yield the visits of nodes by providers, each with the surcharge that the visit before it took."""
    for key, told in jobs.items():
        before = 0
        for recorded in of_type(told, NodeFinished):
            assert isinstance(recorded.event, NodeFinished)
            if recorded.event.provider:
                yield key, told, recorded, recorded.event, before
            before = recorded.event.surcharge


def test_each_call_of_a_provider_is_shown_with_what_was_taken_for_it(jobs: Jobs, rows: Rows) -> None:
    wanted = sorted(
        (
            *key,
            recorded.header.seq,
            submitted(told).workflow_id,
            submitted(told).domain,
            event.provider,
            str(event.outcome),
            event.latency_ms,
            moment(recorded.header.occurred_at),
            taken,
        )
        for key, told, recorded, event, taken in calls(jobs)
    )
    assert sum(row[-1] for row in wanted) > 0
    found = rows(
        "SELECT org_id, job_id, seq, workflow_id, domain, provider, outcome, latency_ms, occurred_at, credits "
        "FROM provider_calls ORDER BY 1, 2, 3"
    )
    assert found == wanted


def test_the_quality_of_each_provider_is_that_of_its_calls(jobs: Jobs, rows: Rows) -> None:
    groups: dict[Any, list[tuple[NodeFinished, int]]] = defaultdict(list)
    for (org, _), told, recorded, event, taken in calls(jobs):
        first = submitted(told)
        groups[org, hour(recorded.header.occurred_at), first.workflow_id, first.domain, event.provider].append(
            (event, taken)
        )
    wanted = []
    for key, visits in groups.items():
        outcomes = [str(event.outcome) for event, _ in visits]
        waits = [event.latency_ms for event, _ in visits]
        wanted.append(
            (
                *key,
                len(visits),
                outcomes.count("succeeded"),
                outcomes.count("refused"),
                outcomes.count("failed"),
                fmean(waits),
                float(quantile(waits, 0.5)),
                float(quantile(waits, 0.95)),
                sum(taken for _, taken in visits),
            )
        )
    found = rows(
        "SELECT org_id, hour, workflow_id, domain, provider, calls, succeeded, refused, failed, mean_ms, p50_ms, "
        "p95_ms, credits FROM provider_quality ORDER BY 1, 2, 3, 4, 5"
    )
    same(found, sorted(wanted))


def test_balances_are_what_the_log_says_also_of_deleted_jobs(streams: list[Stream], rows: Rows) -> None:
    hourly: dict[Any, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for recorded in (each for stream in streams for each in stream.events):
        if moved := movement(recorded.event):
            hourly[recorded.event.org_id, hour(recorded.header.occurred_at)][moved.kind] += moved.credits
    columns = "granted, debited, surcharged, refunded, held"
    wanted = sorted(
        (
            *key,
            kinds["grant"],
            -kinds["debit"],
            -kinds["surcharge"],
            kinds["refund"],
            -kinds["hold"] - kinds["release"],
            sum(kinds.values()),
        )
        for key, kinds in hourly.items()
    )
    assert all(sum(column) for column in zip(*[row[2:] for row in wanted], strict=True))
    found = rows(f"SELECT org_id, hour, {columns}, moved FROM credits_hourly ORDER BY 1, 2")
    assert found == wanted
    sums: dict[str, list[int]] = defaultdict(lambda: [0] * 6)
    for org, _, *numbers in wanted:
        sums[org] = [have + more for have, more in zip(sums[org], numbers, strict=True)]
    found = rows(f"SELECT org_id, {columns}, balance FROM org_balances ORDER BY 1")
    assert found == sorted((org, *numbers) for org, numbers in sums.items())


def test_each_job_cost_what_was_taken_for_it_less_what_was_given_back(jobs: Jobs, rows: Rows) -> None:
    wanted = []
    for key, told in jobs.items():
        kinds: dict[str, int] = defaultdict(int)
        for recorded in told:
            if moved := movement(recorded.event):
                kinds[moved.kind] += moved.credits
        state = stays(told)[-1][1]
        wanted.append(
            (
                *key,
                submitted(told).workflow_id,
                submitted(told).domain,
                state if state in TERMINAL else "",
                -kinds["debit"],
                -kinds["surcharge"],
                kinds["refund"],
                -sum(kinds.values()),
            )
        )
    found = rows(
        "SELECT org_id, job_id, workflow_id, domain, state, debited, surcharged, refunded, cost FROM job_costs "
        "ORDER BY 1, 2"
    )
    assert found == sorted(wanted)
