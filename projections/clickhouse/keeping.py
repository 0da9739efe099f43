"""For how long ClickHouse keeps events: a TTL of job_events, as the setting says. What was summed of them stays."""

from datetime import timedelta

from clickhouse_connect.driver.client import Client

from services.runtime.settings import Settings
from services.runtime.time import utc_now

# By how much less is taken for kept: a merge may take events away while they are being compared, and clocks differ.
MARGIN = timedelta(hours=6)
FIND = "SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = 'job_events'"


def keep(client: Client, days: int) -> None:
    """Let job_events forget an event so many days after it occurred, or never (0); safe to repeat."""
    engine = str(client.command(FIND))
    wanted = f"TTL toDateTime(occurred_at) + toIntervalDay({days})"
    if days and f"{wanted} " not in engine:
        client.command(f"ALTER TABLE job_events MODIFY {wanted}")
    elif not days and " TTL " in engine:
        client.command("ALTER TABLE job_events REMOVE TTL")


def kept_since(settings: Settings) -> int:
    """Return from when on every event is kept for some hours more, microseconds UTC; 0: all are."""
    if not settings.clickhouse_keep_days:
        return 0
    since = utc_now() - timedelta(days=settings.clickhouse_keep_days) + MARGIN
    return int(since.timestamp() * 1_000_000)
