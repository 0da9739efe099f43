"""The dashboard of operations draws what the processes export, in the words of Grafana's schema."""

import json
from pathlib import Path

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard as GrafanaDashboard

from services.cli.docs_operations import PANELS, SOURCE, Panel, operations_dashboard
from tests.unit.clickhouse.test_dashboards import lost
from tests.unit.deploy.expressions import unknown

GRAFANA = Path(__file__).parents[3] / "deploy" / "grafana"


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.title)
def test_a_panel_asks_for_metrics_and_labels_that_are_exported(panel: Panel) -> None:
    assert [wrong for text, _ in panel.lines for wrong in unknown(text)] == []


def test_grafanas_schema_knows_every_field() -> None:
    told = json.loads(operations_dashboard())
    assert list(lost(told, json.loads(JSONEncoder().encode(GrafanaDashboard.from_json(told))))) == []


def test_panels_lie_side_by_side_and_none_over_another() -> None:
    places = [panel["gridPos"] for panel in json.loads(operations_dashboard())["panels"]]
    cells = [(at["x"] + x, at["y"] + y) for at in places for x in range(at["w"]) for y in range(at["h"])]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


def test_the_data_source_is_provisioned() -> None:
    provisioned = (GRAFANA / "provisioning" / "datasources" / "jobledger.yaml").read_text()
    assert f"uid: {SOURCE['uid']}\n    type: {SOURCE['type']}\n" in provisioned
