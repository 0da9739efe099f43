"""What callers get of module jobs, in the snake_case of their published API."""

from typing import Any

import msgspec

from api.answers import FieldProblem
from api.times import Timestamp


class ModuleAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Every field is always there; what is not known (yet) is null."""


class Breakdown(ModuleAnswer, frozen=True, kw_only=True):
    """How many results there are by query, and by zone."""

    by_query: dict[str, int]
    by_zone: dict[str, int]


class QueryStats(ModuleAnswer, frozen=True, kw_only=True):
    """What came of the planned items of one query so far."""

    processed: int
    results: int
    errors: int


class JobPublic(ModuleAnswer, frozen=True, kw_only=True):
    """Everything about a module job; counts are those of its whole chain up to it, `ef_cost` is its own."""

    id: str
    job_type: str
    queries: list[str]
    zones: list[str]
    status: str
    grid_points_count: int  # planned items; 0: nothing is planned yet
    processed_points: int  # that have their outcome
    results_count: int
    error_count: int  # planned items that errored
    ef_cost: int  # credits
    created_at: Timestamp
    started_at: Timestamp | None
    completed_at: Timestamp | None
    expires_at: Timestamp | None  # when its results go; null: it has not ended, or they stay
    error_message: str | None
    output_filename: str | None  # null: there is nothing to be downloaded
    download_available: bool
    source_job_id: str | None  # the job that it goes on from
    breakdown: Breakdown
    dead_queries: list[str]  # without a single result so far
    total_attempts_count: int  # jobs of its chain
    query_stats: dict[str, QueryStats]


class ModuleItems(ModuleAnswer, frozen=True, kw_only=True):
    """Results in their order, from an offset on; `total` are those that there are by now."""

    items: list[Any]
    offset: int
    limit: int
    total: int


class ModuleJobStatus(ModuleAnswer, frozen=True, kw_only=True):
    """A job that was just made, or cancelled."""

    id: str
    job_type: str
    status: str
    source_job_id: str | None  # the job that it goes on from


class ModuleJobDeleted(ModuleAnswer, frozen=True, kw_only=True):
    """The job is deleted for good. `deleted` is false in an answer 202: for a moment readers may still see it."""

    id: str
    deleted: bool


class Detail(ModuleAnswer, frozen=True, kw_only=True):
    """What is wrong, and with which fields."""

    message: str
    errors: list[FieldProblem]


class ModuleError(ModuleAnswer, frozen=True, kw_only=True):
    """An error: what to do about it, in a text, or with every field at fault."""

    detail: str | Detail
