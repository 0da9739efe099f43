"""Runs of real Scrapy projects, each in its process, against a site on this machine."""

from pathlib import Path

import pytest

from services.ledger.reports import Extracted
from services.runtime.networks import networks_of
from services.workers.spiders.frames import Note
from services.workers.spiders.local import LocalRunner
from services.workers.spiders.options import RunOptions
from services.workers.spiders.protocol import Ended, Items
from tests.spiders.archives import packed
from tests.spiders.runs import run
from tests.spiders.site import site


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


@pytest.mark.parametrize(
    ("project", "spider", "error_type", "said"),
    [
        ("plain", "nobody", "spider_never_started", "Spider not found: nobody"),
        ("errors", "killed", "closed_unexpectedly", "killed by signal 9: by the machine where that has no memory left"),
        ("errors", "faulting", "closed_unexpectedly", "killed by signal 11"),
        ("errors", "greedy", "memory_limit", "more than its 256 MB"),
        ("errors", "grabbing", "memory_limit", "more than its 256 MB"),
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


async def test_a_spider_that_nobody_hears_ends_by_itself_all_the_same(tmp_path: Path) -> None:
    async with site() as address:
        options = RunOptions(
            project="many", spiders=["many"], deploy_version=1, spider_args={"site": address, "pages": "500"}
        )
        spider = await LocalRunner(allowed=networks_of("127.0.0.1"), folder=str(tmp_path)).start(
            options, packed("many")
        )
        try:
            hearing = aiter(spider.heard())
            while not isinstance(await anext(hearing), Items):
                pass
            await spider.stop(60.0)
            heard = [each async for each in hearing]
        finally:
            await spider.close()
    assert [each.reason for each in heard if isinstance(each, Note) and each.about == "closed"] == ["shutdown"]
    last = heard[-1]
    assert isinstance(last, Ended)
    assert (last.exit_code, last.killed) == (0, "stopped")
