"""What a list of jobs is asked for is what the read model is asked for, each filter under its own column."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from api import requests
from api.auth import Caller
from api.operation import Call
from api.routes import jobs
from projections.postgres import listing
from projections.postgres.read import SQL
from projections.postgres.views import Filters, Page

AT = datetime(2027, 1, 15, 12, tzinfo=UTC)
FILTERS: list[tuple[dict[str, Any], Filters]] = [
    ({"status": ["failed", "pending"]}, Filters(statuses=("failed", "pending"))),
    ({"workflowId": "w"}, Filters(workflow_id="w")),
    ({"domain": "shop.example"}, Filters(domain="shop.example")),
    ({"scheduleId": "s"}, Filters(schedule_id="s")),
    ({"errorType": "internal"}, Filters(error_type="internal")),
    ({"createdAfter": AT.isoformat()}, Filters(submitted_after=AT)),
    ({"createdBefore": AT.isoformat()}, Filters(submitted_before=AT)),
]
NAMES = [next(iter(asked)) for asked, _ in FILTERS]


@pytest.mark.parametrize(("asked", "expected"), FILTERS, ids=NAMES)
async def test_a_filter_of_the_api_is_the_one_of_the_read_model(asked: dict[str, Any], expected: Filters) -> None:
    seen: list[Any] = []

    async def page(caller: Caller, filters: Filters, **_: object) -> Page:
        seen.append((caller.org_id, filters))
        return Page([], None)

    parts: Any = SimpleNamespace(jobs=SimpleNamespace(page=page))
    query = msgspec.convert(asked, requests.ListJobs)
    nothing: Any = None
    await jobs.page(Call(nothing, parts, Caller("api:1", "acme"), None, query, "r"))
    assert seen == [("acme", expected)]


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        ("workflow_id", "workflow_id = %(workflow_id)s"),
        ("domain", "domain = %(domain)s"),
        ("schedule_id", "schedule_id = %(schedule_id)s"),
        ("error_type", "error_type = %(error_type)s"),
        ("submitted_after", "submitted_at >= %(submitted_after)s"),
        ("submitted_before", "submitted_at < %(submitted_before)s"),
    ],
)
def test_a_filter_asks_for_its_column_and_is_called_with_its_value(name: str, condition: str) -> None:
    every, filters = Filters(), Filters(**{name: AT if "submitted" in name else "x"})  # type: ignore[arg-type]
    text = listing.statement(SQL, filters, oldest_first=False).as_string()
    without = listing.statement(SQL, every, oldest_first=False).as_string()
    assert text.replace(f" AND {condition}", "") == without != text
    assert listing.arguments("acme", filters, None, 9, oldest_first=False)[name] == getattr(filters, name)
