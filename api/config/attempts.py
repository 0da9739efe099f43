"""What the writer of webhooks noted of its calls to the endpoints of an org, and which of them it has paused."""

from dataclasses import dataclass
from datetime import datetime

from api.config.store import Pool, rows


@dataclass(frozen=True, slots=True)
class Attempt:
    """A row of webhooks.attempts."""

    attempt_id: int
    job_id: str
    destination_id: str
    message_id: str
    generation: int
    try_number: int
    attempted_at: datetime
    latency_ms: int
    status: int
    error_type: str
    answer: str


@dataclass(frozen=True, slots=True)
class _Pause:
    webhook_id: str
    until: datetime


async def page(
    pool: Pool, org_id: str, webhook_id: str, *, job_id: str | None, message_id: str | None, before: int, limit: int
) -> list[Attempt]:
    """Return the newest attempts below an id; of one job or one message where that is given."""
    of = {"org_id": org_id, "webhook_id": webhook_id, "job_id": job_id, "message_id": message_id}
    async with pool.connection() as connection:
        return await rows(connection, Attempt, "attempts", {**of, "before": before, "limit": limit})


async def paused_until(pool: Pool, org_id: str) -> dict[str, datetime]:
    """Return the endpoints of an org that are not called now, with the end of that."""
    async with pool.connection() as connection:
        found = await rows(connection, _Pause, "paused_endpoints", {"org_id": org_id})
    return {pause.webhook_id: pause.until for pause in found}
