"""Alert rules ask for what the processes export, name a runbook, and fire on what they are for."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.cli.docs_operations import PANELS
from tests.unit.deploy.expressions import parsed, selectors, unknown
from tests.unit.deploy.tools import promtool

ROOT = Path(__file__).parents[3]
RULES = ROOT / "deploy" / "alerts" / "jobledger.yaml"
CASES = RULES.with_name("jobledger.test.yaml")


@cache
def alerts() -> dict[str, dict[str, Any]]:
    return {rule["alert"]: rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]}


@pytest.mark.parametrize("name", alerts())
def test_an_alert_asks_for_metrics_and_labels_that_are_exported(name: str) -> None:
    assert unknown(alerts()[name]["expr"]) == []


@pytest.mark.parametrize("name", alerts())
def test_an_alert_says_how_urgent_it_is_what_is_wrong_and_what_to_do(name: str) -> None:
    rule = alerts()[name]
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert rule["annotations"]["summary"]
    assert (ROOT / rule["annotations"]["runbook"]).exists()


@pytest.mark.parametrize("name", alerts())
def test_a_runbook_names_the_alerts_that_lead_to_it(name: str) -> None:
    assert f"`{name}`" in (ROOT / alerts()[name]["annotations"]["runbook"]).read_text()


def test_every_alert_is_fired_by_a_case() -> None:
    cases = [case for test in yaml.safe_load(CASES.read_text())["tests"] for case in test["alert_rule_test"]]
    assert {case["alertname"] for case in cases if case.get("exp_alerts")} == set(alerts())


def test_what_an_alert_watches_is_on_the_dashboard() -> None:
    drawn = {name for panel in PANELS for text, _ in panel.lines for name, _ in selectors(parsed(text))}
    watched = {name for rule in alerts().values() for name, _ in selectors(parsed(rule["expr"]))}
    assert watched - drawn == {"up", "jobledger_streams_open"}  # whether somebody answers at all


@pytest.mark.parametrize(("verb", "file"), [("check", RULES), ("test", CASES)])
def test_prometheus_takes_the_rules_and_every_case_comes_out_as_it_says(verb: str, file: Path) -> None:
    ran = promtool(verb, "rules", str(file))
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"


def test_an_expression_about_what_nobody_exports_is_found() -> None:
    assert unknown("sum by (planet) (rate(jobledger_apples_total[5m]))") == [
        "jobledger_apples_total",
        "by planet of jobledger_apples_total",
    ]
    assert unknown('jobledger_lag{planet="mars"} > 0') == ["jobledger_lag{planet}"]
    with pytest.raises(ValueError, match="parenthesis"):
        unknown("sum by (")
