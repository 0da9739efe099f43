"""Asks ClickHouse the queries of `queries/`, for an org or for all, and for a stretch of time."""

from datetime import UTC, datetime

from clickhouse_connect.driver.client import Client
from msgspec import Struct

from projections.clickhouse.queries import Query

POINTS = 60  # of a line at least, where the stretch is long enough
BUCKETS = (60, 300, 900, 3600, 3 * 3600, 6 * 3600, 86_400)  # seconds


class Asked(Struct, frozen=True):
    """What a query is asked about: jobs of an org (empty: of all), from `since` on, until before `until`."""

    since: datetime
    until: datetime
    org: str = ""

    @property
    def bucket(self) -> int:
        """Seconds between two points of a line."""
        longest = (self.until - self.since).total_seconds() / POINTS
        return max((each for each in BUCKETS if each <= longest), default=BUCKETS[0])


class Answer(Struct, frozen=True):
    """The rows of a query."""

    query: Query
    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]


def ask(client: Client, query: Query, asked: Asked) -> Answer:
    """Ask one query. Raises ClickHouseError."""
    values = {
        "org": asked.org,
        "since": _text(asked.since),
        "until": _text(asked.until),
        "bucket": asked.bucket,
    }
    result = client.query(query.sql, parameters={name: values[name] for name in query.parameters}, tz_mode="aware")
    return Answer(query, tuple(result.column_names), [tuple(row) for row in result.result_rows])


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
