"""Views of the states of jobs, of the queue and of retries say what Python counts in the events themselves."""

from collections import defaultdict
from statistics import fmean
from typing import Any

from schemas.events import (
    JobClaimed,
    RetryBroughtForward,
    RetryScheduled,
)
from services.ledger.status import TERMINAL
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.views.figures import Row, quantile, same, seconds, spans, stays
from tests.integration.clickhouse.views.history import Jobs, hour, moment, of_type


def test_each_stay_in_a_state_is_shown_with_its_time(jobs: Jobs, rows: Rows) -> None:
    wanted = sorted(
        (*span[:4], moment(span[4]), span[6] and moment(span[6]), span[5] or "", span[6] and seconds(span[4], span[6]))
        for span in spans(jobs)
    )
    found = rows(
        "SELECT org_id, job_id, seq, state, entered_at, left_at, next_state, seconds FROM state_times ORDER BY 1, 2, 3"
    )
    same(found, wanted)
    assert {row[3] for row in found} >= {"pending", "running", "waiting_retry", "extraction_done", *TERMINAL} - {
        "timed_out",
        "lost",
    }


def test_each_wait_in_the_queue_ends_by_a_claim_or_otherwise(jobs: Jobs, rows: Rows) -> None:
    wanted = sorted(
        (org, job, moment(at), seq > 1, moment(left) if left and to == "running" else None, to or "")
        for org, job, seq, state, at, to, left in spans(jobs)
        if state == "pending"
    )
    assert any(again for *_, again, _, _ in wanted)
    assert (
        rows("SELECT org_id, job_id, queued_at, again, claimed_at, next_state FROM queue_waits ORDER BY 1, 2, 3")
        == wanted
    )


def test_each_org_has_its_share_of_the_claims_and_its_wait_beside_that_of_all(jobs: Jobs, rows: Rows) -> None:
    waits: dict[Any, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for org, _, _, state, at, to, left in spans(jobs):
        if state == "pending" and to == "running" and left:
            waits[hour(left)][org].append(seconds(at, left))
    wanted = []
    for when, orgs in waits.items():
        of_all = [each for values in orgs.values() for each in values]
        for org, values in orgs.items():
            ratio = fmean(values) / fmean(of_all)
            share = len(values) / len(of_all)
            wanted.append((org, when, len(values), fmean(values), quantile(values, 0.95), max(values), share, ratio))
    assert len(waits) > 1
    ask = "SELECT org_id, hour, claims, mean_seconds, p95_seconds, longest_seconds, share, ratio FROM org_fairness"
    same(rows(f"{ask} ORDER BY org_id, hour"), sorted(wanted))
    of_one = sorted(row for row in wanted if row[0] == "acme")  # among all the others all the same
    same(rows(f"{ask} WHERE org_id = 'acme' ORDER BY hour"), of_one)


def waits_for_another_try(jobs: Jobs) -> list[Row]:
    """Return each of them with its claim, and with how its job ended."""
    found: list[Row] = []
    for key, told in jobs.items():
        for recorded in of_type(told, RetryScheduled):
            event, at = recorded.event, moment(recorded.header.occurred_at)
            assert isinstance(event, RetryScheduled)
            due, claimed, forward = event.due_at, None, False
            for later in told[recorded.header.seq :]:
                if isinstance(later.event, RetryBroughtForward):
                    due, forward = later.event.due_at, True
                if isinstance(later.event, JobClaimed):
                    claimed = moment(later.header.occurred_at)
                    break
            state = stays(told)[-1][1]
            ended = state if state in TERMINAL else ""
            found.append((*key, recorded.header.seq, event.error_type, at, forward, moment(due), claimed, ended))
    return found


def test_each_wait_for_another_try_has_its_claim(jobs: Jobs, rows: Rows) -> None:
    wanted = sorted(waits_for_another_try(jobs))
    assert {row[5] for row in wanted} == {True, False}
    found = rows(
        "SELECT org_id, job_id, seq, error_type, scheduled_at, brought_forward, due_at, claimed_at, state FROM retries "
        "ORDER BY 1, 2, 3"
    )
    assert found == wanted
