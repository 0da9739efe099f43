"""The verdict on a demo run."""

import dataclasses

from api.answers import Gate, Job
from projections.verification.faults import Fault, Report
from services.cli.demo_check import End, Share, summary_of
from services.cli.demo_run import Outcome, Submitted
from services.cli.demo_workflows import PAGE_KINDS
from tests.unit.cli.jobs import job, visit

KINDS = {kind.name: kind for kind in PAGE_KINDS}
FAITHFUL = Report(positions={0: 9}, events=9, jobs=1, rows={}, faults=[])
SHUT = Gate(waived=[], expected=1, acked=0, pending=["internal-postgres"], opened_by=[], opened_at=None)


def outcome(page: str, ended: Job, *, readable: bool = True) -> Outcome:
    """Return the outcome of a job that fetched a page of this kind."""
    return Outcome(Submitted("org-1", ended.job_id, "https://shop.example/1", KINDS[page]), ended, readable)


def test_a_run_whose_jobs_end_as_expected_is_fine() -> None:
    refused = visit("fetch", 0, 5, outcome="refused", rule="captcha")
    walled = job("failed", error_type="validation_failed", execution_trace=[refused], gate=SHUT)
    summary = summary_of(
        [outcome("product", job()), outcome("captcha", walled, readable=False)], FAITHFUL, broker="b", seconds=1
    )
    assert summary.ok
    assert summary.astray == []
    assert (summary.gate.completed, summary.gate.expected, summary.gate.acked) == (1, 1, 1)


def test_another_rule_than_expected_is_a_mismatch() -> None:
    refused = visit("fetch", 0, 5, outcome="refused", rule="soft_404")
    walled = job("failed", error_type="validation_failed", execution_trace=[refused], gate=SHUT)
    summary = summary_of([outcome("captcha", walled, readable=False)], FAITHFUL, broker="b", seconds=1)
    assert not summary.ok
    assert summary.kinds[0].actual == [Share(End("failed", "validation_failed", "soft_404"), 1)]
    assert summary.astray[0].expected == "failed validation_failed (captcha)"
    assert summary.astray[0].found == "failed validation_failed (soft_404)"


def test_a_job_that_has_not_ended_is_named_with_the_place_where_it_hangs() -> None:
    summary = summary_of([outcome("product", job("pending", ended=None))], FAITHFUL, broker="b", seconds=55)
    assert not summary.ok
    assert summary.astray[0].found == "waits for a worker since 12:00:00.000"


def test_a_completed_job_whose_result_cannot_be_read_spoils_the_run() -> None:
    summary = summary_of([outcome("product", job(), readable=False)], FAITHFUL, broker="b", seconds=1)
    assert not summary.ok
    assert (summary.gate.completed, summary.gate.readable) == (1, 0)


def test_a_completed_job_with_an_ack_missing_spoils_the_run() -> None:
    assert not summary_of([outcome("product", job(gate=SHUT))], FAITHFUL, broker="b", seconds=1).ok


def test_a_fault_that_verification_found_spoils_the_run_and_is_told() -> None:
    fault = Fault("gate_violations", "org-1", "job-1", "row", "none", "completed before its last ACK")
    report = Report(positions={0: 9}, events=9, jobs=1, rows={}, faults=[fault])
    summary = summary_of([outcome("product", job())], report, broker="b", seconds=1)
    assert not summary.ok
    assert summary.gate.violations == 1
    assert summary.verify.faults == [str(fault)]


def test_nothing_is_expected_of_the_users_own_urls_but_an_end() -> None:
    own = dataclasses.replace(
        outcome("product", job("failed", error_type="providers_exhausted", gate=SHUT)).asked, kind=None
    )
    ended = Outcome(own, job("failed", error_type="providers_exhausted", gate=SHUT), readable=False)
    assert summary_of([ended], FAITHFUL, broker="b", seconds=1).ok
    hanging = Outcome(own, job("running", ended=None), readable=False)
    assert not summary_of([hanging], FAITHFUL, broker="b", seconds=1).ok


def test_latency_counts_completed_jobs_only_and_by_the_ledgers_own_times() -> None:
    jobs = [outcome("product", job(ended=ended)) for ended in (100, 200, 900)]
    jobs.append(outcome("gone", job("failed", ended=50), readable=False))
    latency = summary_of(jobs, FAITHFUL, broker="b", seconds=1).latency
    assert (latency.jobs, latency.p50_ms, latency.p99_ms) == (3, 200.0, 900.0)
