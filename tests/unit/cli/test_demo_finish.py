"""What follows a run: its picture, and where to look next."""

import sys
from pathlib import Path

import pytest

from projections.verification.faults import Report
from services.cli.demo_check import Summary, summary_of
from services.cli.demo_finish import NO_MATPLOTLIB, draw_run, look_next
from services.cli.demo_orgs import Registered
from services.cli.demo_outage import Outage
from services.cli.demo_processes import Readiness
from services.cli.demo_run import Outcome, Submitted
from services.cli.demo_session import Session
from services.cli.kept_keys import OrgKey
from tests.unit.cli.jobs import at, job, transition

ORG = Registered(OrgKey("org-1", "jlk_secret"), ("internal-postgres", "wh-1"), "wh-1")


@pytest.fixture
def session() -> Session:
    """A run of one job, which waited for a destination that was down."""
    done = job(transitions=[transition("pending", 0), transition("extraction_done", 300), transition("completed", 900)])
    outcome = Outcome(Submitted("org-1", "job-1", "https://shop.example/1", None), done, readable=True)
    outage = Outage("org-1", "wh-1", 1, [], [], [], seconds=0.5, from_time=at(300), to_time=at(800))
    return Session("run", [ORG], [outcome], 1.0, outage, outage_planned=True)


@pytest.fixture
def summary(session: Session) -> Summary:
    """Its summary."""
    return summary_of(session, Report({}, 3, 1, {}, []), Readiness(True), "apache-kafka")


def test_a_run_is_drawn(session: Session, summary: Summary, tmp_path: Path) -> None:
    file = tmp_path / "demo" / "run.png"
    assert draw_run(session, summary, file) == ""
    assert file.stat().st_size > 10_000


def test_without_matplotlib_it_says_how_to_install_it_and_draws_nothing(
    session: Session, summary: Summary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "services.cli.demo_picture", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    file = tmp_path / "run.png"
    assert draw_run(session, summary, file) == NO_MATPLOTLIB
    assert "pip install" in NO_MATPLOTLIB
    assert not file.exists()


def test_a_picture_that_cannot_be_written_does_not_spoil_the_run(
    session: Session, summary: Summary, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    assert "cannot be written" in draw_run(session, summary, tmp_path / "file" / "run.png")


def test_what_to_look_at_next_names_the_job_and_holds_no_key() -> None:
    lines = look_next(job())
    assert any("get job-1 --org org-1" in line for line in lines)
    assert not any("jlk_" in line for line in lines)
