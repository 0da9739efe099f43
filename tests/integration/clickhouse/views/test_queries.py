"""Every query of dashboards and reports answers what Python counts in the events of a varied history."""

import pytest
from clickhouse_connect.driver.client import Client

from projections.clickhouse.asking import Asked, ask
from projections.clickhouse.dashboards import DASHBOARDS, panel_sql
from schemas.events import JobClaimed
from tests.event_streams import Stream
from tests.integration.clickhouse.views.asked import QUERIES, answers_as_counted, plain
from tests.integration.clickhouse.views.counted import Part
from tests.integration.clickhouse.views.figures import same
from tests.integration.clickhouse.views.history import Jobs, of_type


@pytest.mark.parametrize("org", ["", "globex"])
@pytest.mark.parametrize("name", sorted(QUERIES))
def test_a_query_answers_what_the_events_say(
    streams: list[Stream], jobs: Jobs, clickhouse: Client, name: str, org: str
) -> None:
    answer = answers_as_counted(clickhouse, name, streams, jobs, org)
    named = {column for column in answer.columns if column in QUERIES[name].units}
    assert named == set(QUERIES[name].units)
    drawing = QUERIES[name].drawing
    assert drawing is None or {drawing.x, *drawing.ys, *filter(None, [drawing.by])} <= set(answer.columns)


@pytest.mark.parametrize("board", sorted(DASHBOARDS))
def test_a_panel_asks_what_its_query_asks(streams: list[Stream], jobs: Jobs, clickhouse: Client, board: str) -> None:
    """With what Grafana's data source puts in place of its macros."""
    dashboard = DASHBOARDS[board]
    part = Part(streams, jobs, "acme" if dashboard.of_an_org else "")
    asked = Asked(part.asked.since.replace(microsecond=0), part.asked.until.replace(microsecond=0), part.org)
    for name in (name for row in dashboard.rows for name in row):
        sql = panel_sql(QUERIES[name], of_an_org=dashboard.of_an_org)
        for macro, value in {
            "$__fromTime": f"toDateTime({asked.since.timestamp():.0f})",
            "$__toTime": f"toDateTime({asked.until.timestamp():.0f})",
            "$__interval_s": str(asked.bucket),
            "${org:sqlstring}": f"'{asked.org}'",
        }.items():
            sql = sql.replace(macro, value)
        assert "$" not in sql
        found = clickhouse.query(sql, tz_mode="aware").result_rows
        same(plain(map(tuple, found)), plain(ask(clickhouse, QUERIES[name], asked).rows))


def test_a_claim_is_among_what_is_asked_about(streams: list[Stream], jobs: Jobs) -> None:
    """Or the stretch of time is too short to say anything."""
    part = Part(streams, jobs, "")
    claims = [each for told in jobs.values() for each in of_type(told, JobClaimed)]
    inside = [each for each in claims if part.has(each.header.occurred_at)]
    assert 10 < len(inside) < len(claims)
