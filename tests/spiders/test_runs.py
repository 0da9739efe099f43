"""Runs of real Scrapy projects, each in its process, against a site on this machine."""

from pathlib import Path

import pytest

from services.ledger.reports import Extracted
from tests.spiders.runs import run


async def test_a_plain_project_finishes_with_its_items_its_log_and_its_statistics(tmp_path: Path) -> None:
    came = await run(tmp_path, "plain", "shop")
    assert isinstance(came.outcome, Extracted), came.outcome
    assert came.outcome.items == 15
    assert [each["name"] for each in came.items] == [f"Lamp {page}.{row}" for page in (1, 2, 3) for row in range(5)]
    assert came.items[1]["price"] == "1.50"
    assert came.stats["item_scraped_count"] == 15
    assert [each for each in came.lines if each["level"] == "warning" and "FEEDS are off" in each["message"]]


@pytest.mark.parametrize(("isolated", "count"), [(True, 10), (False, 5)])
async def test_pipelines_are_off_unless_a_run_wants_them(isolated: bool, count: int, tmp_path: Path) -> None:
    came = await run(tmp_path, "piped", "numbers", isolate_pipelines=isolated)
    assert isinstance(came.outcome, Extracted), came.outcome
    assert len(came.items) == count


async def test_five_thousand_items_are_all_there_in_their_order_of_pages(tmp_path: Path) -> None:
    came = await run(tmp_path, "many", "many")
    assert isinstance(came.outcome, Extracted), came.outcome
    assert len({(each["url"], each["number"]) for each in came.items}) == len(came.items) == 5_000


async def test_a_cap_that_was_asked_for_is_a_clean_end(tmp_path: Path) -> None:
    came = await run(tmp_path, "endless", "endless", settings={"CLOSESPIDER_ITEMCOUNT": 10})
    assert isinstance(came.outcome, Extracted), came.outcome
    assert len(came.items) >= 10


@pytest.mark.parametrize(
    ("project", "spider", "error_type", "said"),
    [
        ("broken", "token", "spider_never_started", "KeyError: 'token'"),
        ("plain", "nobody", "spider_never_started", "Spider not found: nobody"),
        ("errors", "faulty", "closed_unexpectedly", "closespider_errorcount"),
        ("errors", "alarmed", "critical_log", "the shop has moved"),
        ("errors", "gone", "closed_unexpectedly", "exit code 0"),
        ("errors", "greedy", "memory_limit", "more than its 256 MB"),
        ("errors", "grabbing", "memory_limit", "more than its 256 MB"),
        ("plain", "idle", "no_successful_request", "below 400"),
    ],
)
async def test_a_run_that_went_wrong_has_failed_whatever_its_exit_code(
    project: str, spider: str, error_type: str, said: str, tmp_path: Path
) -> None:
    came = await run(tmp_path, project, spider)
    assert came.failed[0] == error_type
    assert said in came.failed[1]


async def test_a_grouped_run_shares_one_process(tmp_path: Path) -> None:
    came = await run(tmp_path, "errors", "alarmed", "faulty", grouped=True)
    assert came.failed[0] == "critical_log"
    assert len(came.items) > 3
