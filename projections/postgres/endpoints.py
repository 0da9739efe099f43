"""Endpoints that the ledger has disabled, in the configuration: later jobs do not get them.

Only the version that the event names is disabled. So a fold from the first event on leaves alone what its owner has
enabled again since, and what is disabled already keeps its reason and date.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from psycopg import Connection

from projections.postgres.rows import instant
from schemas.events import EndpointDisabled
from schemas.recorded import Recorded
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("endpoints.sql"))


def disable(connection: Connection[Any], events: Iterable[Recorded]) -> None:
    """Disable the endpoints that these events tell of, in the transaction of the session."""
    if connection.execute(SQL["configured"]).fetchone() == (None,):
        return  # a read model beside no configuration: there is nobody to keep from what is disabled
    for recorded in events:
        event = recorded.event
        if isinstance(event, EndpointDisabled):
            values = {
                "org_id": event.org_id,
                "webhook_id": event.webhook_id,
                "version": event.endpoint_version,
                "reason": reason_of(event),
                "at": instant(recorded.header.occurred_at),
            }
            connection.execute(SQL["disable"], values)


def reason_of(event: EndpointDisabled) -> str:
    """Say to the owner why an endpoint is disabled."""
    if event.reason == "gone":
        return "it answered 410 Gone"
    since = f"{instant(event.first_failed_at):%Y-%m-%d %H:%M} UTC"
    return f"nothing but failures since {since}, the last one {event.error_type}"
