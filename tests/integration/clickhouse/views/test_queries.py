"""Every query of dashboards and reports answers what Python counts in the events of a varied history."""

from collections.abc import Iterable
from datetime import datetime

import pytest
from clickhouse_connect.driver.client import Client

from projections.clickhouse.asking import Asked, ask
from projections.clickhouse.dashboards import DASHBOARDS, panel_sql
from projections.clickhouse.queries import queries
from schemas.events import JobClaimed
from tests.event_streams import Stream
from tests.integration.clickhouse.views.counted import COUNTED, Part
from tests.integration.clickhouse.views.figures import Row, same
from tests.integration.clickhouse.views.history import Jobs, of_type

QUERIES = queries()


def plain(rows: Iterable[Row]) -> list[Row]:
    """Return rows in an order of their own, times as the log has them."""
    naive = [tuple(each.replace(tzinfo=None) if isinstance(each, datetime) else each for each in row) for row in rows]
    return sorted(naive, key=lambda row: repr([each for each in row if not isinstance(each, float)]))


@pytest.mark.parametrize("org", ["", "globex"])
@pytest.mark.parametrize("name", sorted(QUERIES))
def test_a_query_answers_what_the_events_say(
    streams: list[Stream], jobs: Jobs, clickhouse: Client, name: str, org: str
) -> None:
    part = Part(streams, jobs, org, to_the_end=name == "gate_ages")  # which tells only of those that are closed now
    answer = ask(clickhouse, QUERIES[name], part.asked)
    wanted = plain(COUNTED[name](part))
    assert wanted
    same(plain(answer.rows), wanted)
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
