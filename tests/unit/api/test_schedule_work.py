"""What a fire submits is what its schedule says."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from api import requests
from api.config import destinations
from api.config.schedules import Schedule
from api.config.workflows import Runnable
from api.schedules import work

NOON = datetime(2027, 1, 15, 12, tzinfo=UTC)


class OpenKeys:
    """Stands for the keys of an org without erasure."""

    async def turned(self, _org_id: str) -> tuple[bool, None]:
        """It never had it."""
        return False, None


def scheduled(**asked: Any) -> Schedule:
    """A schedule with this work, as it is saved."""
    body = msgspec.convert({"url": "https://shop.example/p/1", **asked}, requests.SubmitJobs)
    return Schedule(
        org_id="acme",
        schedule_id="s1",
        version=1,
        name="daily",
        cron="0 12 * * *",
        timezone="UTC",
        work=msgspec.to_builtins(body),
        tags=[],
        missed="once",
        enabled=True,
        next_run_at=NOON,
        created_at=NOON,
        updated_at=NOON,
    )


@pytest.fixture(autouse=True)
def _configured(monkeypatch: pytest.MonkeyPatch) -> None:
    async def workflows_for(_pool: Any, _org_id: str, _named: str | None, hosts: list[Any]) -> list[Runnable]:
        return [Runnable("w", 3, "workflows/w/3")] * len(hosts)

    async def enabled(_pool: Any, _org_id: str) -> tuple[()]:
        return ()

    monkeypatch.setattr(work, "workflows_for", workflows_for)
    monkeypatch.setattr(destinations, "enabled", enabled)


async def test_a_fire_submits_with_the_priority_and_the_time_in_the_queue_of_its_schedule() -> None:
    asks = {"command_id": "c", "org_id": "acme"}
    schedule = scheduled(priority=7, maxQueueSeconds=30)
    keys: Any = OpenKeys()
    made = await work.submitted(None, keys, schedule, asks, allowed=(), due_at=0)  # type: ignore[arg-type]
    assert (made.priority, made.max_queue_seconds, made.workflow_version) == (7, 30, 3)
