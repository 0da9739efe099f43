"""Dashboards of Grafana made of the queries of `queries/`: no panel has SQL of its own. Pure.

The parameters of a query become what Grafana's ClickHouse data source puts in their place: the range of time that is
shown, the width of a point, the org that was chosen.
"""

import json
from collections.abc import Iterator, Mapping

from msgspec import Struct

from projections.clickhouse.queries import PLACE, Drawing, Query, Unit

SOURCE = {"type": "grafana-clickhouse-datasource", "uid": "jobledger-clickhouse"}
SCHEMA_VERSION = 38  # of Grafana 10.1, the oldest that these are made for; newer ones bring it up to theirs
COLUMNS = 24  # of Grafana's grid
HEIGHT = 8
GRAFANA_UNITS: Mapping[Unit, str] = {"s": "s", "ms": "ms", "days": "d", "share": "percentunit", "time": "dateTimeAsIso"}
ORG_CHOICE = "${org:sqlstring}"
KINDS = {"lines": "timeseries", "bars": "barchart"}
TIME_SERIES, TABLE = 0, 1  # formats of the data source


class Dashboard(Struct, frozen=True):
    """What a dashboard shows: rows of queries, side by side."""

    uid: str
    title: str
    about: str
    rows: tuple[tuple[str, ...], ...]
    of_an_org: bool = False


OPERATORS = Dashboard(
    "jobledger-operators",
    "jobledger: operators",
    "All orgs: how many jobs come and go, what they wait for, what fails.",
    (
        ("funnel", "job_times"),
        ("jobs_by_state", "state_times"),
        ("queue_wait", "workers"),
        ("fairness", "failures"),
        ("provider_success", "provider_latency"),
        ("provider_quality",),
        ("retries",),
        ("delivery_latency", "delivery_failures"),
        ("delivery_quality",),
        ("gate_ages", "gate_waits"),
        ("credits", "balances"),
    ),
)
ORG = Dashboard(
    "jobledger-org",
    "jobledger: an org",
    "One org: its jobs, their times and failures, its providers and destinations, its credits.",
    (
        ("funnel", "job_times"),
        ("jobs_by_state", "state_times"),
        ("queue_wait", "failures"),
        ("provider_success", "provider_latency"),
        ("provider_quality",),
        ("retries",),
        ("delivery_latency", "delivery_quality"),
        ("gate_ages", "gate_waits"),
        ("credits", "balances"),
        ("job_costs",),
    ),
    of_an_org=True,
)
DASHBOARDS = {"operators": OPERATORS, "org": ORG}


def dashboard_text(dashboard: Dashboard, queries: Mapping[str, Query]) -> str:
    """Return a dashboard as Grafana is given it."""
    told = {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "description": dashboard.about,
        "tags": ["jobledger"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": False,
        "graphTooltip": 1,  # the cross hair in all panels
        "timezone": "utc",
        "refresh": "1m",
        "time": {"from": "now-24h", "to": "now"},
        "templating": {"list": [_org_variable(queries["orgs"])] if dashboard.of_an_org else []},
        "panels": list(_panels(dashboard, queries)),
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def panel_sql(query: Query, *, of_an_org: bool) -> str:
    """Return the SQL of a query as Grafana's data source takes it."""
    places = {
        "org": ORG_CHOICE if of_an_org else "''",
        "since": "$__fromTime",
        "until": "$__toTime",
        "bucket": "$__interval_s",
    }
    return PLACE.sub(lambda place: places[place[1]], query.sql)


def _panels(dashboard: Dashboard, queries: Mapping[str, Query]) -> Iterator[dict[str, object]]:
    number = 0
    for line, names in enumerate(dashboard.rows):
        width = COLUMNS // len(names)
        for place, name in enumerate(names):
            number += 1
            at = {"h": HEIGHT, "w": width, "x": place * width, "y": line * HEIGHT}
            yield {"id": number, "gridPos": at, **_panel(queries[name], of_an_org=dashboard.of_an_org)}


def _panel(query: Query, *, of_an_org: bool) -> dict[str, object]:
    drawing = query.drawing
    lines = drawing is not None and drawing.kind == "lines"
    target = {
        "refId": "A",
        "datasource": SOURCE,
        "editorType": "sql",
        "queryType": "timeseries" if lines else "table",
        "format": TIME_SERIES if lines else TABLE,
        "rawSql": panel_sql(query, of_an_org=of_an_org),
    }
    return {
        "type": KINDS[drawing.kind] if drawing else "table",
        "title": query.title,
        "description": " ".join(filter(None, (query.answers, query.notes))),
        "datasource": SOURCE,
        "targets": [target],
        "fieldConfig": {"defaults": _defaults(drawing), "overrides": list(_overrides(query))},
        "options": _options(drawing),
    }


def _defaults(drawing: Drawing | None) -> dict[str, object]:
    if drawing is None or drawing.kind == "bars":
        return {}
    custom = {"drawStyle": "line", "lineWidth": 2, "fillOpacity": 10, "showPoints": "auto", "spanNulls": False}
    name = {"displayName": f"${{__field.labels.{drawing.by}}}"} if drawing.by and len(drawing.ys) == 1 else {}
    return {"custom": custom, **name}


def _overrides(query: Query) -> Iterator[dict[str, object]]:
    """Give every column its unit, and leave what is only for tables out of pictures."""
    for column, unit in query.units.items():
        properties: list[dict[str, object]] = [{"id": "unit", "value": GRAFANA_UNITS.get(unit, "short")}]
        if query.drawing and column not in query.drawing.ys:
            hidden = {"legend": True, "tooltip": False, "viz": True}
            properties.append({"id": "custom.hideFrom", "value": hidden})
        yield {"matcher": {"id": "byRegexp", "options": f"/^{column}( |$)/"}, "properties": properties}


def _options(drawing: Drawing | None) -> dict[str, object]:
    if drawing is None:
        return {"showHeader": True, "cellHeight": "sm"}
    legend = {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []}
    tooltip = {"mode": "multi", "sort": "none"}
    return {"legend": legend, "tooltip": tooltip, **({"xField": drawing.x} if drawing.kind == "bars" else {})}


def _org_variable(orgs: Query) -> dict[str, object]:
    return {
        "name": "org",
        "label": "org",
        "type": "query",
        "datasource": SOURCE,
        "query": orgs.sql,
        "refresh": 1,  # when the dashboard is opened
        "sort": 1,
        "multi": False,
        "includeAll": False,
        "hide": 0,
        "regex": "",
        "options": [],
        "current": {},
        "skipUrlSync": False,
    }
