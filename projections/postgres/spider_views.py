"""What readers of spider jobs get of the read model."""

from datetime import datetime
from typing import Any

from msgspec import Struct


class SpiderDelivery(Struct, frozen=True):
    """The newest delivery of a job to one destination."""

    destination_id: str
    kind: str
    status: str
    rows: int | None
    place: str | None
    error_type: str | None
    error_message: str | None


class SpiderJob(Struct, frozen=True):
    """A spider job as far as it is shown, of one instant."""

    job_id: str
    org_id: str
    partition: int
    position: int  # of its last event
    status: str
    attempt: int
    workflow_id: str  # its project
    priority: int
    schedule_id: str | None
    max_run_seconds: int
    error_type: str | None
    error_message: str | None
    submitted_at: datetime
    claimed_at: datetime | None
    finished_at: datetime | None
    expired_at: datetime | None
    items: int | None  # that it reported at its end
    progress: Any  # as `services.ledger.items.Items` says it
    options: Any  # run options; in lists without those that may be large
    deliveries: list[SpiderDelivery]
    task_out: bool  # its task may be claimed


class SpiderRuns(Struct, frozen=True):
    """What came of the runs of one spider of a project."""

    spider: str
    own_runs: int
    grouped_runs: int  # together with other spiders
    items: int  # of its own runs: those of grouped ones belong to no spider
    last_job_id: str


class SpiderFilters(Struct, frozen=True):
    """Which spider jobs of an org a list holds; None, or no state, asks nothing."""

    project: str | None = None
    states: tuple[str, ...] = ()
