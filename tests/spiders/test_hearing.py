"""What is told of a spider that is stopped, that reaches its limit, or whose worker cannot go on; with a spider that
says what a test has it say."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from prometheus_client import REGISTRY

from schemas.private import private_bytes, private_json
from schemas.values import Vocabulary
from services.ledger.items import Items as Come
from services.ledger.replies import Granted
from services.ledger.reports import Chunk, Extracted, Failed, Logged, RetryLater, Stats
from services.ledger.tasks import Resume, Task
from services.runtime.blob import BlobStore
from services.runtime.errors import BlobFault, CredentialsAway, Unsealable
from services.runtime.item_chunks import LOG
from services.runtime.item_manifest import NAME as MANIFEST
from services.workers.attempt import Report
from services.workers.spiders.attempt import attempts
from services.workers.spiders.frames import Line, Note, Snapshot
from services.workers.spiders.hearing import Hearing
from services.workers.spiders.options import RunOptions
from services.workers.spiders.protocol import Ended, Heard, Items, Lines
from services.workers.spiders.recorder import Recorder

OPTIONS = RunOptions(project="shop", spiders=["one"], deploy_version=1)


class Told:
    """A spider that says what it is told to; when it is stopped it says its last words."""

    def __init__(self, *last: Heard) -> None:
        self._says: asyncio.Queue[Heard] = asyncio.Queue()
        self._last = last
        self.stops: list[float] = []
        self.closed = False

    def says(self, *heard: Heard) -> None:
        """Have it say something."""
        for each in heard:
            self._says.put_nowait(each)

    async def heard(self) -> AsyncIterator[Heard]:
        """Yield what it says."""
        while True:
            heard = await self._says.get()
            yield heard
            if isinstance(heard, Ended):
                return

    async def stop(self, grace_seconds: float) -> None:
        """Say the last words."""
        self.stops.append(grace_seconds)
        self.says(*self._last, Ended(0, "stopped"))

    async def close(self) -> None:
        """Note it."""
        self.closed = True


class Away(BlobStore):
    """A store that fails."""

    async def put(self, key: str, data: bytes) -> None:
        """Fail."""
        raise BlobFault("away")


class AwayOnce(BlobStore):
    """A store that fails once, when something comes whose key has a text in it."""

    def __init__(self, url: str, fails_at: str) -> None:
        super().__init__(url)
        self._fails_at = fails_at

    async def put(self, key: str, data: bytes) -> None:
        """Keep it, or fail."""
        if self._fails_at and self._fails_at in key:
            self._fails_at = ""
            raise BlobFault("away for a moment")
        await super().put(key, data)


def hearing(spider: Told, blobs: BlobStore, limit_seconds: float | None = None) -> Hearing:
    return Hearing(spider, Recorder(blobs, "org", "job", 1, Come(chain_id="job")), OPTIONS, limit_seconds)


def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path.as_uri())


def rows(reports: list[Report]) -> int:
    return sum(part.rows for report in reports for part in report.items if isinstance(part, Chunk))


def error_of(reports: list[Report]) -> str:
    outcome = reports[-1].outcome
    assert isinstance(outcome, Failed | RetryLater), outcome
    return outcome.error_type


async def test_a_run_whose_worker_stops_tells_what_its_spider_says_until_it_has_ended(tmp_path: Path) -> None:
    spider = Told(Items([b"2", b"3"]), Note("closed", "one", "shutdown"))
    spider.says(Note("opened", "one"), Items([b"1"]))
    heard, told = hearing(spider, store(tmp_path)), list[Report]()

    async def tell() -> None:
        async for report in heard.reports():
            told.append(report)
            work.cancel()

    work = asyncio.ensure_future(tell())
    await asyncio.wait({work})
    await heard.close()
    assert error_of(told) == "runner_stopped"
    assert rows(told) == 3
    assert len(spider.stops) == 1
    assert spider.closed


async def test_a_run_is_stopped_a_little_before_its_limit_and_keeps_what_it_has(tmp_path: Path) -> None:
    spider = Told(Items([b"2"]), Note("closed", "one", "shutdown"))
    spider.says(Note("opened", "one"), Items([b"1"]))
    heard = hearing(spider, store(tmp_path), limit_seconds=0.05)
    told = [report async for report in heard.reports()]
    await heard.close()
    assert error_of(told) == "timed_out"
    assert rows(told) == 2
    assert 0 < spider.stops[0] < 0.05 * 0.1


async def test_a_run_that_nobody_listens_to_any_more_ends_as_at_a_stop(tmp_path: Path) -> None:
    spider = Told()
    spider.says(Note("opened", "one"))
    heard = hearing(spider, store(tmp_path))
    await heard.close()
    assert len(spider.stops) == 1
    assert spider.closed


@pytest.mark.parametrize("fails_at", [LOG, MANIFEST])
async def test_a_store_that_is_away_for_a_moment_costs_a_run_nothing(
    fails_at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.workers.spiders.hearing.AWAY_SECONDS", 0.0)
    line = msgspec.json.encode(Line("info", "said", "2026-01-01T00:00:00.000Z", "one"))
    spider = Told()
    spider.says(Note("opened", "one"), Items([b"1", b"2"]), Lines([line]))
    spider.says(Snapshot(final=True, scraped=2, succeeded=1, stats={}), Note("closed", "one", "finished"), Ended(0))
    heard = hearing(spider, AwayOnce(tmp_path.as_uri(), fails_at))
    told = [report async for report in heard.reports()]
    await heard.close()
    parts = [type(part) for report in told for part in report.items]
    assert parts == [Chunk, Logged, Stats]
    assert isinstance(told[-1].outcome, Extracted)


def test_nothing_is_newer_than_the_final_statistics(tmp_path: Path) -> None:
    recorder = Recorder(store(tmp_path), "org", "job", 1, Come(chain_id="job"))
    recorder.add_snapshot(Snapshot(final=True, scraped=2, succeeded=2, stats={}))
    recorder.add_snapshot(Snapshot(final=False, scraped=1, succeeded=1, stats={}))
    [told] = asyncio.run(recorder.flushed())
    assert isinstance(told, Stats)
    assert (told.final, told.scraped) == (True, 2)


async def test_a_fault_of_ours_ends_a_run_in_words(tmp_path: Path) -> None:
    spider = Told()
    spider.says(Items([b"1"]), Ended(0))
    heard = hearing(spider, store(tmp_path))
    heard._recorder = None  # type: ignore[assignment]
    told = [report async for report in heard.reports()]
    await heard.close()
    assert error_of(told) == "internal"


class Project:
    """An environment and a runner; what is done is noted, in order."""

    def __init__(self, spider: Told | Exception, env: dict[str, str] | Exception | None = None) -> None:
        self._spider, self._env = spider, env or {}
        self.done: list[Any] = []

    async def of(self, org_id: str, project: str) -> dict[str, str]:
        """Return the environment."""
        if isinstance(self._env, Exception):
            raise self._env
        return self._env

    async def start(self, options: RunOptions, archive: bytes) -> Told:
        """Return the spider."""
        self.done.append(options.env)
        if isinstance(self._spider, Exception):
            raise self._spider
        return self._spider

    async def attempt(self, blobs: BlobStore, **given: Any) -> list[Report]:
        """Make an attempt."""
        options = {"project": "shop", "spiders": ["one"], "deploy_version": 1} | given
        task = Task(
            org_id="org",
            job_id="job",
            partition=0,
            dispatch=1,
            vocabulary=Vocabulary.SPIDER,
            workflow_ref="archive",
            private=private_bytes({"input": options}),
        )
        told = []
        async for report in attempts(blobs, self, self, task, Granted(attempt=1, resume=Resume())):
            told.append(report)
            self.done.append(report)
        return told


async def test_the_ledger_knows_of_a_run_before_its_spider_starts(tmp_path: Path) -> None:
    blobs, spider = store(tmp_path), Told()
    await blobs.put("archive", b"")
    spider.says(Note("opened", "one"), Note("closed", "one", "finished"), Ended(0))
    project = Project(spider, {"TOKEN": "project", "REGION": "eu"})
    await project.attempt(blobs, env={"TOKEN": "run"})
    first, started = project.done[:2]
    assert [type(part) for part in first.items] == [Logged]
    assert started == {"TOKEN": "run", "REGION": "eu"}
    assert spider.closed


@pytest.mark.parametrize(
    ("env", "error_type"),
    [(CredentialsAway("away"), "credentials_unavailable"), (Unsealable("no key"), "credential_unreadable")],
)
async def test_without_the_environment_of_its_project_no_run_begins(
    env: Exception, error_type: str, tmp_path: Path
) -> None:
    project = Project(Told(), env)
    assert error_of(await project.attempt(store(tmp_path))) == error_type
    assert [type(each) for each in project.done] == [Report]


async def test_while_the_store_is_away_no_run_begins(tmp_path: Path) -> None:
    await store(tmp_path).put("archive", b"")
    project = Project(Told())
    assert error_of(await project.attempt(Away(tmp_path.as_uri()))) == "blobs_unavailable"
    assert [type(each) for each in project.done] == [Report]


async def test_a_machine_that_starts_no_process_fails_the_run(tmp_path: Path) -> None:
    blobs = store(tmp_path)
    await blobs.put("archive", b"")
    told = await Project(BlockingIOError("no process left")).attempt(blobs)
    assert error_of(told) == "spider_never_started"
    outcome = told[-1].outcome
    assert isinstance(outcome, Failed)
    assert "no process left" in msgspec.json.decode(private_json(outcome.private) or b"{}")["message"]
    assert not any(isinstance(each.outcome, Extracted) for each in told)


async def test_what_is_told_of_runs_is_counted(tmp_path: Path) -> None:
    def counted(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(f"jobledger_spider_{name}_total", labels) or 0.0

    blobs, spider = store(tmp_path), Told()
    await blobs.put("archive", b"")
    spider.says(Note("opened", "one"), Items([b"1", b"2"]), Note("closed", "one", "odd"), Ended(0))
    before = counted("items"), counted("lines"), counted("runs", outcome="closed_unexpectedly")
    await Project(spider).attempt(blobs)
    after = counted("items"), counted("lines"), counted("runs", outcome="closed_unexpectedly")
    assert [now - then for now, then in zip(after, before, strict=True)] == [2, 1, 1]
    assert counted("stored_bytes", what="items") > 0
