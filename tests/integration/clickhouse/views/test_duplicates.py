"""What comes twice or late changes no figure of a view."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from clickhouse_connect.driver.client import Client

from projections.clickhouse.migrate import migrate_tables
from schemas.events import (
    DeliveryAcked,
)
from services.runtime.settings import Settings
from tests.event_streams import Stream
from tests.integration.clickhouse.conftest import database_of
from tests.integration.clickhouse.views.figures import Row, same
from tests.integration.clickhouse.views.history import Jobs, of_type

VIEWS = (
    "job_status",
    "funnel_hourly",
    "state_times",
    "queue_waits",
    "org_fairness",
    "provider_calls",
    "provider_quality",
    "job_costs",
    "retries",
    "deliveries",
    "delivery_quality",
    "gate_ages",
    "credits_hourly",
    "org_balances",
)


@pytest.fixture
def copied(shared: Settings, clickhouse: Client, streams: list[Stream]) -> Iterator[Client]:
    """A client of another database that holds the same events."""
    other = f"{clickhouse.database}_copy"
    settings = replace(shared, clickhouse=f"{shared.clickhouse.rpartition('/')[0]}/{other}")
    with database_of(settings) as client:
        migrate_tables(settings)
        copy(client, clickhouse)
        yield client


def copy(client: Client, other: Client) -> None:
    client.command(f"INSERT INTO job_events SELECT * FROM {other.database}.job_events")


def test_an_event_that_is_there_twice_changes_no_figure(copied: Client, clickhouse: Client) -> None:
    def figures() -> dict[str, list[Row]]:
        found = {view: copied.query(f"SELECT * FROM {view}").result_rows for view in VIEWS}
        return {view: sorted(map(tuple, rows), key=repr) for view, rows in found.items()}

    before = figures()
    assert all(before.values())
    copy(copied, clickhouse)
    for view, found in figures().items():
        same(found, before[view])


def test_the_history_holds_what_makes_counting_hard(streams: list[Stream], jobs: Jobs) -> None:
    """Or the tests above say less than they seem to."""
    kinds = {type(each.event).__name__ for told in jobs.values() for each in told}
    assert {"ReportRefused", "JobReleased", "DeliveryWaived", "DeliveryDeadLettered", "JobExpired"} <= kinds
    assert sum(len(stream.jobs) for stream in streams) > len(jobs)  # some were deleted
    acks = [
        (each.event.job_id, each.event.destination_id, each.event.generation)
        for told in jobs.values()
        for each in of_type(told, DeliveryAcked)
        if isinstance(each.event, DeliveryAcked)
    ]
    assert len(set(acks)) < len(acks)  # some were acknowledged twice
