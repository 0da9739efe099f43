"""Scenario 52 for spider jobs: a process that ends with 0 has not therefore done its work."""

from pathlib import Path
from typing import Any

import pytest

from services.ledger.reports import Extracted
from tests.spiders.runs import run


@pytest.mark.parametrize(
    ("project", "spider", "error_type", "said"),
    [
        ("broken", "token", "spider_never_started", "KeyError: 'token'"),
        ("errors", "faulty", "closed_unexpectedly", "closespider_errorcount"),
        ("errors", "alarmed", "critical_log", "the shop has moved"),
        ("errors", "gone", "closed_unexpectedly", "exit code 0"),
        ("plain", "idle", "no_successful_request", "below 400"),
    ],
)
async def test_52_a_run_that_did_not_do_its_work_has_failed(
    project: str, spider: str, error_type: str, said: str, tmp_path: Path
) -> None:
    came = await run(tmp_path, project, spider)
    assert came.failed[0] == error_type
    assert said in came.failed[1]


@pytest.mark.parametrize("cap", [{"CLOSESPIDER_ITEMCOUNT": 10}])
async def test_52_a_cap_that_was_asked_for_is_a_clean_end(cap: dict[str, Any], tmp_path: Path) -> None:
    came = await run(tmp_path, "endless", "endless", settings=cap)
    assert isinstance(came.outcome, Extracted), came.outcome
    assert came.items
