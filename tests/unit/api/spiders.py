"""Spider jobs as the read model has them, for tests of what callers see."""

from typing import Any

from msgspec.structs import replace

from projections.postgres.rows import instant
from projections.postgres.spider_views import SpiderDelivery, SpiderJob

AT = instant(1_750_000_000_000_000)
OPTIONS: dict[str, Any] = {"project": "shop", "spiders": ["books"], "deploy_version": 3}


def job(**fields: Any) -> SpiderJob:
    """A job that is pending; with other fields where given."""
    made = SpiderJob(
        job_id="j1",
        org_id="acme",
        partition=1,
        position=7,
        status="pending",
        attempt=0,
        workflow_id="shop",
        priority=100,
        schedule_id=None,
        max_run_seconds=60,
        error_type=None,
        error_message=None,
        submitted_at=AT,
        claimed_at=None,
        finished_at=None,
        expired_at=None,
        items=None,
        progress=None,
        options=OPTIONS,
        deliveries=[],
        task_out=False,
    )
    return replace(made, **fields)


def running(**fields: Any) -> SpiderJob:
    """A job that runs."""
    return job(**{"status": "running", "attempt": 1, "claimed_at": AT, **fields})


def over(status: str = "completed", **fields: Any) -> SpiderJob:
    """A job that ran and has ended."""
    return running(**{"status": status, "finished_at": AT, **fields})


def progress(scraped: int, stored: int) -> dict[str, Any]:
    """How far a job has come."""
    return {"chain_id": "j1", "scraped": scraped, "rows": stored}


def delivery(status: str = "acked", **fields: Any) -> SpiderDelivery:
    """A delivery to a destination."""
    given = {
        "destination_id": "lake",
        "kind": "customer_postgres",
        "rows": None,
        "place": None,
        "error_type": None,
        "error_message": None,
        **fields,
    }
    return SpiderDelivery(status=status, **given)
