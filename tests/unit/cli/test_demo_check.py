"""The verdict on a demo run."""

import dataclasses

import msgspec
import pytest

from api.answers import Gate, Job
from projections.verification.faults import Fault, Report
from services.cli.demo_check import End, Share, Summary, summary_of
from services.cli.demo_kinds import PAGE_KINDS
from services.cli.demo_orgs import Registered
from services.cli.demo_outage import Outage
from services.cli.demo_processes import ProcessResult, Readiness
from services.cli.demo_run import Outcome, Submitted
from services.cli.demo_session import Session
from services.cli.kept_keys import OrgKey
from tests.unit.cli.jobs import job, visit

KINDS = {kind.name: kind for kind in PAGE_KINDS}
FAITHFUL = Report(positions={0: 9}, events=9, jobs=1, rows={}, faults=[])
SHUT = Gate(waived=[], expected=1, acked=0, pending=["internal-postgres"], opened_by=[], opened_at=None)


ORG = Registered(OrgKey("org-1", "secret"), ("internal-postgres",))
WAITED = Outage("org-1", "wh-1", waiting=1, not_naming=[], early=[], left=[])
READY = Readiness(True, [ProcessResult("api", "ready", 0)])


def outcome(page: str, ended: Job, *, readable: bool = True) -> Outcome:
    """Return the outcome of a job that fetched a page of this kind, and whose extraction is right."""
    url = f"https://shop.example{KINDS[page].path(1)}"
    return Outcome(Submitted("org-1", ended.job_id, url, KINDS[page]), ended, readable, KINDS[page].title_of(url))


def summary(
    *outcomes: Outcome,
    report: Report = FAITHFUL,
    outage: Outage | None = WAITED,
    planned: bool = True,
    readiness: Readiness = READY,
) -> Summary:
    """Return the summary of a run in which all is well but what the test says."""
    session = Session("run", [ORG], list(outcomes), 1.0, outage, outage_planned=planned)
    return summary_of(session, report, readiness, "b")


def test_a_run_whose_jobs_end_as_expected_is_fine() -> None:
    refused = visit("fetch", 0, 5, outcome="refused", rule="captcha")
    walled = job("failed", error_type="validation_failed", execution_trace=[refused], gate=SHUT)
    found = summary(outcome("product", job()), outcome("captcha", walled, readable=False))
    assert found.ok
    assert found.astray == []
    assert (found.gate.completed, found.gate.expected, found.gate.acked) == (1, 1, 1)
    assert [(org.org_id, org.jobs) for org in found.orgs] == [("org-1", 2)]


def test_another_rule_than_expected_is_a_mismatch() -> None:
    refused = visit("fetch", 0, 5, outcome="refused", rule="soft_404")
    walled = job("failed", error_type="validation_failed", execution_trace=[refused], gate=SHUT)
    found = summary(outcome("captcha", walled, readable=False))
    assert not found.ok
    assert found.kinds[0].actual == [Share(End("failed", "validation_failed", "soft_404"), 1)]
    assert found.astray[0].expected == "failed validation_failed (captcha)"
    assert found.astray[0].found == "failed validation_failed (soft_404)"


def test_the_cause_of_a_failed_fetch_is_the_last_error_that_a_node_met() -> None:
    trace = [
        visit("fetch", 0, 5, outcome="failed", error_type="redirect_loop"),
        visit("failed", 5, 6, kind="failed", outcome="failed", error_type="providers_exhausted"),
    ]
    looped = job("failed", error_type="providers_exhausted", execution_trace=trace, gate=SHUT)
    assert summary(outcome("loop", looped, readable=False)).ok
    trace[0] = visit("fetch", 0, 5, outcome="failed", error_type="timeout")
    late = job("failed", error_type="providers_exhausted", execution_trace=trace, gate=SHUT)
    [astray] = summary(outcome("loop", late, readable=False)).astray
    assert astray.job_id == "job-1"
    assert astray.found == "failed providers_exhausted (timeout)"


def test_a_page_that_was_read_in_a_wrong_encoding_is_named() -> None:
    read = outcome("latin1", job())
    assert summary(read).ok
    assert read.title
    garbled = dataclasses.replace(read, title=read.title.encode().decode("cp1252"))
    [astray] = summary(garbled).astray
    assert "Crème" in astray.expected
    assert "CrÃ¨me" in astray.found


def test_a_job_that_has_not_ended_is_named_with_the_place_where_it_hangs() -> None:
    found = summary(outcome("product", job("pending", ended=None)))
    assert not found.ok
    assert found.astray[0].found == "waits for a worker since 12:00:00.000"


def test_a_completed_job_whose_result_cannot_be_read_spoils_the_run() -> None:
    found = summary(outcome("product", job(), readable=False))
    assert not found.ok
    assert (found.gate.completed, found.gate.readable) == (1, 0)


def test_a_completed_job_with_an_ack_missing_spoils_the_run() -> None:
    assert not summary(outcome("product", job(gate=SHUT))).ok


def test_a_fault_that_verification_found_spoils_the_run_and_is_told() -> None:
    fault = Fault("gate_violations", "org-1", "job-1", "row", "none", "completed before its last ACK")
    report = Report(positions={0: 9}, events=9, jobs=1, rows={}, faults=[fault])
    found = summary(outcome("product", job()), report=report)
    assert not found.ok
    assert found.gate.violations == 1
    assert found.verify.faults == [str(fault)]


def test_a_process_that_was_restarted_spoils_the_run() -> None:
    crashed = Readiness(False, [ProcessResult("projections-clickhouse", "ready", 3)])
    found = summary(outcome("product", job()), readiness=crashed)
    assert not found.ok
    assert [process.name for process in found.readiness.faulty] == ["projections-clickhouse"]


@pytest.mark.parametrize(
    "outage",
    [
        None,
        Outage("org-1", "wh-1", waiting=0, not_naming=[], early=[], left=[]),
        Outage("org-1", "wh-1", waiting=1, not_naming=["job-2"], early=[], left=[]),
        Outage("org-1", "wh-1", waiting=1, not_naming=[], early=["job-2"], left=[]),
        Outage("org-1", "wh-1", waiting=1, not_naming=[], early=[], left=["job-2"]),
    ],
    ids=["nothing was sent", "none waited", "one did not name it", "one was early", "one left"],
)
def test_jobs_that_do_not_wait_for_a_destination_that_is_down_spoil_the_run(outage: Outage | None) -> None:
    assert not summary(outcome("product", job()), outage=outage).ok


def test_of_the_retried_jobs_the_one_with_most_destinations_is_shown() -> None:
    tries = [visit("fetch", 0, 5, outcome="failed"), visit("fetch", 5, 9, attempt=3)]
    gates = {"job-1": 1, "job-2": 3, "job-3": 2}
    jobs = [
        outcome("flaky", job(job_id=name, execution_trace=tries, gate=msgspec.structs.replace(SHUT, expected=number)))
        for name, number in gates.items()
    ]
    assert summary(*jobs).retried_job == "job-2"


def test_nothing_is_expected_of_the_users_own_urls_but_an_end() -> None:
    own = dataclasses.replace(
        outcome("product", job("failed", error_type="providers_exhausted", gate=SHUT)).asked, kind=None
    )
    ended = Outcome(own, job("failed", error_type="providers_exhausted", gate=SHUT), readable=False)
    assert summary(ended, outage=None, planned=False).ok
    hanging = Outcome(own, job("running", ended=None), readable=False)
    assert not summary(hanging, outage=None, planned=False).ok


def test_latency_counts_completed_jobs_only_and_by_the_ledgers_own_times() -> None:
    jobs = [outcome("product", job(ended=ended)) for ended in (100, 200, 900)]
    jobs.append(outcome("gone", job("failed", ended=50), readable=False))
    latency = summary(*jobs).latency
    assert (latency.jobs, latency.p50_ms, latency.p99_ms) == (3, 200.0, 900.0)
