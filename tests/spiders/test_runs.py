"""Runs of real Scrapy projects, each in its process, against a site on this machine."""

import io
import os
import tarfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schemas.private import private_bytes, private_json
from schemas.values import Vocabulary
from services.ledger.replies import Granted
from services.ledger.reports import Chunk, Extracted, Failed, Logged, Outcome, Stats
from services.ledger.tasks import Resume, Task
from services.runtime.blob import BlobStore
from services.runtime.item_chunks import lines_of, rows_part
from services.runtime.networks import networks_of
from services.workers.spiders.attempt import attempts
from services.workers.spiders.local import LocalRunner
from tests.spiders.site import site

PROJECTS = Path(__file__).parent / "projects"


class Run:
    """What came of a run."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.lines: list[dict[str, str]] = []
        self.stats: dict[str, Any] = {}
        self.outcome: Outcome | None = None

    @property
    def failed(self) -> tuple[str, str]:
        assert isinstance(self.outcome, Failed), self.outcome
        said = msgspec.json.decode(private_json(self.outcome.private) or b"{}")
        return self.outcome.error_type, said["message"]


def packed(project: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        tar.add(PROJECTS / project, project)
    return file.getvalue()


async def run(folder: Path, project: str, *spiders: str, allowed: str = "127.0.0.1", **given: Any) -> Run:
    store, came = BlobStore((folder / "blobs").as_uri()), Run()
    await store.put("archive", packed(project))
    options = {"project": project, "spiders": spiders, "deploy_version": 1, "memory_mb": 256} | given
    async with site() as address:
        options["spider_args"] = {"site": address, "port": address.rpartition(":")[2], **given.get("spider_args", {})}
        task = Task(
            org_id="org",
            job_id="job",
            partition=0,
            dispatch=1,
            vocabulary=Vocabulary.SPIDER,
            workflow_ref="archive",
            private=private_bytes({"input": options}),
        )
        runner = LocalRunner(allowed=networks_of(allowed), folder=str(folder))
        async for report in attempts(store, runner, task, Granted(attempt=1, resume=Resume())):
            for part in report.items:
                match part:
                    case Chunk():
                        rows = rows_part(await store.get(part.items_ref), part.rows_bytes)
                        came.items += map(msgspec.json.decode, rows)
                    case Logged():
                        came.lines += map(msgspec.json.decode, lines_of(await store.get(part.lines_ref)))
                    case Stats():
                        came.stats = msgspec.json.decode(private_json(part.private) or b"{}")
            came.outcome = report.outcome
    assert os.listdir(folder) == ["blobs"]  # noqa: PTH208  # its working folder is gone
    return came


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
