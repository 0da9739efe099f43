"""Dashboards show queries of `queries/` and nothing else, and say it in the words of Grafana's schema."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard as GrafanaDashboard

from projections.clickhouse.dashboards import DASHBOARDS, SOURCE, panel_sql
from projections.clickhouse.queries import BadQuery, queries, query_of

GRAFANA = Path(__file__).parents[3] / "deploy" / "grafana"
HEAD = "-- title: T\n-- answers: What?\n-- units: n=jobs\n-- drawn: table\n"


@pytest.fixture(params=sorted(DASHBOARDS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def told(name: str) -> dict[str, Any]:
    """A dashboard as it lies in the repository."""
    found: dict[str, Any] = json.loads((GRAFANA / "dashboards" / f"{name}.json").read_text())
    return found


def test_no_panel_has_sql_of_its_own(name: str, told: dict[str, Any]) -> None:
    of_an_org = DASHBOARDS[name].of_an_org
    known = {panel_sql(query, of_an_org=of_an_org): query.title for query in queries().values()}
    for panel in told["panels"]:
        assert [known[target["rawSql"]] for target in panel["targets"]] == [panel["title"]]
    assert len(told["panels"]) == sum(map(len, DASHBOARDS[name].rows))
    assert [each["query"] for each in told["templating"]["list"]] == [queries()["orgs"].sql] * of_an_org


def test_panels_of_an_org_ask_about_the_chosen_one_and_operators_about_all(name: str, told: dict[str, Any]) -> None:
    asked = [target["rawSql"] for panel in told["panels"] for target in panel["targets"]]
    for sql in asked:
        assert ("${org:sqlstring}" in sql) == DASHBOARDS[name].of_an_org
        assert "{org:String}" not in sql


def test_every_query_is_on_a_dashboard() -> None:
    shown = {name for dashboard in DASHBOARDS.values() for row in dashboard.rows for name in row}
    assert shown == set(queries()) - {"orgs"}


def test_panels_lie_side_by_side_and_none_over_another(told: dict[str, Any]) -> None:
    places = [panel["gridPos"] for panel in told["panels"]]
    cells = [(at["x"] + x, at["y"] + y) for at in places for x in range(at["w"]) for y in range(at["h"])]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


def test_grafanas_schema_knows_every_field(told: dict[str, Any]) -> None:
    read = json.loads(JSONEncoder().encode(GrafanaDashboard.from_json(told)))
    assert list(lost(told, read)) == []


def lost(said: Any, read: Any, at: str = "") -> Iterator[str]:
    """Yield what was said and is not read."""
    if isinstance(said, dict) and isinstance(read, dict):
        for key, value in said.items():
            yield from lost(value, read.get(key), f"{at}/{key}")
    elif isinstance(said, list) and isinstance(read, list) and len(said) == len(read):
        for number, (value, other) in enumerate(zip(said, read, strict=True)):
            yield from lost(value, other, f"{at}[{number}]")
    elif said != read:
        yield at


def test_the_data_source_is_the_one_that_panels_name() -> None:
    provisioned = (GRAFANA / "provisioning" / "datasources" / "jobledger.yaml").read_text()
    assert f"uid: {SOURCE['uid']}\n    type: {SOURCE['type']}\n" in provisioned


def test_a_query_says_what_it_answers_its_units_and_how_it_is_drawn() -> None:
    query = query_of("q", f"{HEAD}-- A note.\nSELECT 1 AS n WHERE '' = {{org:String}}\n")
    assert (query.title, query.answers, query.units, query.notes) == ("T", "What?", {"n": "jobs"}, "A note.")
    assert (query.drawing, query.parameters) == (None, {"org": "String"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (HEAD.replace("-- drawn: table\n", "") + "SELECT 1", "lacks drawn"),
        (HEAD.replace("jobs", "apples") + "SELECT 1", "unknown units apples"),
        (HEAD.replace("table", "cake") + "SELECT 1", "cannot draw 'cake'"),
        (HEAD + "SELECT {when:DateTime}", "is none of"),
        (HEAD + "SELECT {bucket:String}", "is none of"),
    ],
)
def test_a_bad_query_is_named_with_what_is_wrong(text: str, why: str) -> None:
    with pytest.raises(BadQuery, match=rf"queries/q.sql: .*{why}"):
        query_of("q", text)
