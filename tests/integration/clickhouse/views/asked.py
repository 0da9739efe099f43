"""Whether a query of dashboards and reports answers what Python counts in the events."""

from collections.abc import Iterable
from datetime import datetime

from clickhouse_connect.driver.client import Client

from projections.clickhouse.asking import Answer, ask
from projections.clickhouse.queries import queries
from tests.event_streams import Stream
from tests.integration.clickhouse.views.counted import COUNTED, Part
from tests.integration.clickhouse.views.figures import Row, same
from tests.integration.clickhouse.views.history import Jobs

QUERIES = queries()


def plain(rows: Iterable[Row]) -> list[Row]:
    """Return rows in an order of their own, times as the log has them."""
    naive = [tuple(each.replace(tzinfo=None) if isinstance(each, datetime) else each for each in row) for row in rows]
    return sorted(naive, key=lambda row: repr([each for each in row if not isinstance(each, float)]))


def answers_as_counted(client: Client, name: str, streams: list[Stream], jobs: Jobs, org: str) -> Answer:
    """Ask one query about an org, or about all (""), compare it with what each event says once, and return it."""
    part = Part(streams, jobs, org, to_the_end=name == "gate_ages")  # which tells only of those that are closed now
    answer = ask(client, QUERIES[name], part.asked)
    wanted = plain(COUNTED[name](part))
    assert wanted
    same(plain(answer.rows), wanted)
    return answer
