"""What comes twice or late changes no figure of a view."""

from clickhouse_connect.driver.client import Client

from schemas.events import (
    DeliveryAcked,
)
from tests.event_streams import Stream
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.views.figures import Row, same
from tests.integration.clickhouse.views.history import Jobs, of_type

VIEWS = (
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


def test_an_event_that_is_there_twice_changes_no_figure(streams: list[Stream], clickhouse: Client, rows: Rows) -> None:
    def figures() -> dict[str, list[Row]]:
        return {view: sorted(rows(f"SELECT * FROM {view}"), key=repr) for view in VIEWS}

    before = figures()
    clickhouse.command("INSERT INTO job_events SELECT * FROM job_events")
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
