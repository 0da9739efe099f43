"""One run of a real Scrapy project, from its archive to its outcome, as a worker has it."""

import os
from pathlib import Path
from typing import Any

import msgspec

from schemas.private import private_bytes, private_json
from schemas.values import Vocabulary
from services.ledger.replies import Granted
from services.ledger.reports import Chunk, Failed, Logged, Outcome, Stats
from services.ledger.tasks import Resume, Task
from services.runtime.blob import BlobStore
from services.runtime.item_chunks import lines_of, rows_part
from services.runtime.networks import networks_of
from services.workers.spiders.attempt import attempts
from services.workers.spiders.local import LocalRunner
from services.workers.spiders.unblocker import Unblocker
from tests.spiders.archives import packed
from tests.spiders.site import site


class Run:
    """What came of a run."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.lines: list[dict[str, str]] = []
        self.stats: dict[str, Any] = {}
        self.routed = 0  # as the ledger is told
        self.outcome: Outcome | None = None
        self.asked: list[str] = []  # paths of the site

    @property
    def failed(self) -> tuple[str, str]:
        """Why it failed: the class, and the words."""
        assert isinstance(self.outcome, Failed), self.outcome
        said = msgspec.json.decode(private_json(self.outcome.private) or b"{}")
        return self.outcome.error_type, said["message"]


class NoEnvironments:
    """Projects without variables."""

    async def of(self, org_id: str, project: str) -> dict[str, str]:
        """Return none."""
        return {}


async def run(
    folder: Path,
    project: str,
    *spiders: str,
    allowed: str = "127.0.0.1",
    apart: bool = True,
    unblocker: Unblocker | None = None,
    **given: Any,
) -> Run:
    """Run spiders against a site; `{site}` and `{port}` in their arguments are its."""
    store, came = BlobStore((folder / "blobs").as_uri()), Run()
    await store.put("archive", packed(project))
    options = {"project": project, "spiders": spiders, "deploy_version": 1, "memory_mb": 256} | given
    async with site(came.asked) as address:
        where = {"site": address, "port": address.rpartition(":")[2]}
        said = {name: value.format(**where) for name, value in given.get("spider_args", {}).items()}
        options["spider_args"] = where | said
        task = Task(
            org_id="org",
            job_id="job",
            partition=0,
            dispatch=1,
            vocabulary=Vocabulary.SPIDER,
            workflow_ref="archive",
            private=private_bytes({"input": options}),
        )
        runner = LocalRunner(allowed=networks_of(allowed), folder=str(folder), apart=apart, unblocker=unblocker)
        async for report in attempts(store, NoEnvironments(), runner, task, Granted(attempt=1, resume=Resume())):
            for part in report.items:
                match part:
                    case Chunk():
                        rows = rows_part(await store.get(part.items_ref), part.rows_bytes)
                        came.items += map(msgspec.json.decode, rows)
                    case Logged():
                        came.lines += map(msgspec.json.decode, lines_of(await store.get(part.lines_ref)))
                    case Stats():
                        came.routed = part.routed
                        came.stats = msgspec.json.decode(private_json(part.private) or b"{}")
            came.outcome = report.outcome
    assert os.listdir(folder) == ["blobs"]  # noqa: PTH208  # its working folder is gone
    return came
