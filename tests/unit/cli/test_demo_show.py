"""What a person reads at the end of a demo run."""

import pytest
from rich.console import Console, RenderableType

from projections.verification.faults import Report
from services.cli.demo_check import Summary, summary_of
from services.cli.demo_kinds import PAGE_KINDS
from services.cli.demo_orgs import Registered
from services.cli.demo_outage import Outage
from services.cli.demo_processes import ProcessResult, Readiness
from services.cli.demo_run import Outcome, Submitted
from services.cli.demo_session import Session
from services.cli.demo_show import summary_parts, url_parts
from services.cli.kept_keys import OrgKey
from tests.unit.cli.jobs import job

ALL_WELL = Readiness(True, [ProcessResult("api", "ready", 0)])
WAITED = Outage("org-1", "wh-1", 3, [], [], [], refused=4, accepted=3, seconds=10.02)


def outcome(page: str) -> Outcome:
    """Return a completed job that asked for a page of this kind; for most kinds that is right."""
    kind = next(kind for kind in PAGE_KINDS if kind.name == page)
    url = f"https://shop.example{kind.path(1)}"
    return Outcome(Submitted("org-1", "job-1", url, kind), job(), readable=True, title=kind.title_of(url))


def session(outcome: Outcome, outage: Outage | None = WAITED, without: str = "") -> Session:
    org = Registered(OrgKey("org-1", "secret"), ("internal-postgres", "wh-1"), "wh-1", without)
    return Session("run", [org], [outcome], 1.0, outage, outage_planned=outage is not None)


def summary(ran: Session, readiness: Readiness = ALL_WELL) -> Summary:
    return summary_of(ran, Report({}, 3, 1, {}, []), readiness, "apache-kafka")


def read(*parts: RenderableType) -> str:
    """Return what is printed."""
    console = Console(width=200, color_system=None)
    with console.capture() as capture:
        for part in parts:
            console.print(part)
    return capture.get()


def shown(ran: Session, readiness: Readiness = ALL_WELL) -> str:
    return read(*summary_parts(summary(ran, readiness), [outcome.job for outcome in ran.outcomes]))


def test_a_run_in_which_all_is_well_says_so() -> None:
    text = shown(session(outcome("product")))
    assert "org-1: 1 jobs to internal-postgres, wh-1" in text
    assert "down    wh-1 of org-1 for 10.0 s" in text
    assert "3 jobs waited in extraction_done, each naming it; it refused 4 messages, then took 3" in text
    assert "ready   all 1 processes, none was restarted during the run" in text
    assert "\neverything is as it should be" in text


def test_a_job_that_ended_otherwise_is_named_with_what_was_expected() -> None:
    text = shown(session(outcome("captcha")))
    assert "job-1 https://shop.example/captcha/1: expected failed validation_failed (captcha); completed" in text
    assert "NOT everything is as it should be" in text


@pytest.mark.parametrize(
    ("process", "said"),
    [
        (ProcessResult("writers", "ready", 4), "ready   writers is ready, restarted 4 times during the run"),
        (ProcessResult("writers", "not ready", 0, "a: b"), "ready   writers is not ready: a: b"),
    ],
)
def test_a_process_that_is_not_as_it_should_be_is_named(process: ProcessResult, said: str) -> None:
    text = shown(session(outcome("product")), Readiness(False, [process]))
    assert said in text
    assert "NOT everything is as it should be" in text


def test_jobs_that_did_not_wait_are_named() -> None:
    text = shown(session(outcome("product"), Outage("org-1", "wh-1", 3, ["job-7"], ["job-8"], ["job-9"])))
    for line in ("without naming it: job-7", "completed all the same: job-8", "did not stay in extraction_done: job-9"):
        assert line in text


def test_a_destination_that_is_missing_is_told_with_the_reason() -> None:
    text = shown(session(outcome("product"), without="kind: no ClickHouse is configured here"))
    assert "without a destination in ClickHouse: kind: no ClickHouse is configured here" in text


def test_a_run_over_urls_of_ones_own_tells_of_no_outage() -> None:
    asked = Submitted("org-1", "job-1", "https://shop.example/1", None)
    ran = session(Outcome(asked, job(), readable=True), None)
    text = read(*url_parts(summary(ran), ran.outcomes))
    assert "https://shop.example/1" in text
    assert "down " not in text
    assert "\neverything is as it should be" in text
