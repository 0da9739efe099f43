"""`jobledger report` on a varied history: the same figures as tables, as JSON and in pictures."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client
from typer.testing import CliRunner

from projections.clickhouse.queries import queries
from services.cli.__main__ import app
from services.cli.report import MAIN
from services.runtime.settings import Settings
from tests.event_streams import Stream
from tests.integration.clickhouse.views.figures import stays
from tests.integration.clickhouse.views.history import Jobs

ALL_OF_IT = ["--since", "2025-06-15", "--until", "2025-07-01"]


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch, shared: Settings, streams: list[Stream], clickhouse: Client) -> CliRunner:
    """The command, as it talks to the ClickHouse of these tests."""
    monkeypatch.setattr("services.localstack.attach.attached_settings", lambda _: shared)
    return CliRunner()


def test_the_main_questions_are_answered_as_tables(report: CliRunner, jobs: Jobs) -> None:
    result = report.invoke(app, ["report", *ALL_OF_IT])
    assert result.exit_code == 0, result.output
    for name in MAIN:
        assert queries()[name].answers in result.output
    failed = sum(stays(told)[-1][1] == "failed" for told in jobs.values())
    [line] = [each for each in result.output.splitlines() if each.startswith("failed ")]
    assert line.split()[1] == str(failed)


def test_the_same_as_json_and_of_one_org(report: CliRunner, jobs: Jobs) -> None:
    result = report.invoke(app, ["report", "jobs_by_state", "--org", "acme", "--json", *ALL_OF_IT])
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    assert (told["org"], list(told["answers"])) == ("acme", ["jobs_by_state"])
    wanted = [stays(events)[-1][1] for (org, _), events in jobs.items() if org == "acme"]
    assert {row["state"]: row["jobs"] for row in told["answers"]["jobs_by_state"]} == {
        state: wanted.count(state) for state in wanted
    }


def test_what_can_be_drawn_is_drawn(report: CliRunner, tmp_path: Path) -> None:
    result = report.invoke(app, ["report", "funnel", "balances", "fairness", "--png", str(tmp_path), *ALL_OF_IT])
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fairness.png", "funnel.png"]


def test_what_cannot_be_asked_is_said(report: CliRunner) -> None:
    result = report.invoke(app, ["report", "nothing", "--json"])
    assert (result.exit_code, json.loads(result.stdout)["error"]) == (1, "unknown_query")
    listed = report.invoke(app, ["report", "--list", "--json"])
    assert [each["name"] for each in json.loads(listed.stdout)] == sorted(queries())


def test_without_a_clickhouse_it_says_so(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setattr("services.localstack.attach.attached_settings", lambda _: replace(settings, clickhouse=""))
    result = CliRunner().invoke(app, ["report"])
    assert (result.exit_code, "JOBLEDGER_CLICKHOUSE" in result.output) == (2, True)
    away = replace(settings, clickhouse="http://127.0.0.1:9/nothing")
    monkeypatch.setattr("services.localstack.attach.attached_settings", lambda _: away)
    result = CliRunner().invoke(app, ["report"])
    assert (result.exit_code, result.output.startswith("ClickHouse: ")) == (2, True)
