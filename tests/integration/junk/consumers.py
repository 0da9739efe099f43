"""Every process of ours that reads a topic which others could write to, and what shows that it used a record."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from services.decider.__main__ import main as decide
from services.ledger.commands import AnnounceWorker, AnyCommand, ClaimTask, SettleDeliveries
from services.ledger.replies import Drop, Refused
from services.runtime import topics
from services.runtime.ledger_log import Checkpoint, LedgerLog
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from services.workers.__main__ import main as work
from services.workers.modules.__main__ import main as work_modules
from services.workers.spiders.__main__ import main as work_spiders
from services.writers.__main__ import main as write
from tests.fakes.commander import Body
from tests.fakes.decider import AnsweringDecider
from tests.integration.junk.records import PARTITION, Planted, deliveries, junk, registration, submission, task
from tests.polling import polled

Used = Callable[[], set[str]]  # ids of the jobs whose records were used so far
Main = Callable[[Settings], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Consumer:
    """A process, the topic that it reads, and records for it."""

    name: str
    topic: Callable[[Settings], str]
    main: Main
    watching: Callable[[Settings], AbstractAsyncContextManager[Used]]
    good: Callable[[int], bytes]
    before: tuple[Planted, ...] = ()
    misplaced: tuple[Planted, ...] = ()
    writer_kind: str = "postgres"
    group_name: str = ""

    def group(self, settings: Settings) -> str:
        """Return the consumer group that commits offsets; "" for the decider, which goes by its events."""
        return f"{settings.topic_prefix}.{self.group_name}.v1" if self.group_name else ""

    def planted(self) -> list[Planted]:
        """Return a good record, everything that is not, and two good ones behind it."""
        bad = (*junk(self.good(1)), *self.misplaced)
        return [*self.before, Planted(self.good(1)), *bad, Planted(self.good(2)), Planted(self.good(3))]

    def settings(self, settings: Settings) -> Settings:
        """Return the settings of the process."""
        if self.writer_kind == "clickhouse" and not settings.clickhouse:
            pytest.skip("no ClickHouse: chdb-core is not installed and JOBLEDGER_CLICKHOUSE is not set")
        return replace(settings, writer_kind=self.writer_kind, host="127.0.0.1", port=0)


def _answer(_partition: int, command: AnyCommand) -> Body | None:
    match command:
        case AnnounceWorker():
            return Drop()
        case ClaimTask():
            return Refused(code="unknown_job")
        case _:
            return None


@asynccontextmanager
async def _answered(settings: Settings) -> AsyncIterator[Used]:
    """Answer what workers and writers say, in place of the decider: they have used what they ask about."""
    with AnsweringDecider(settings, _answer) as decider:

        def used() -> set[str]:
            commands = [command for _, command in decider.commands]
            claimed = {command.job_id for command in commands if isinstance(command, ClaimTask)}
            settled = (command.results for command in commands if isinstance(command, SettleDeliveries))
            return claimed | {result.job_id for results in settled for result in results}

        yield used


@asynccontextmanager
async def _recorded(settings: Settings) -> AsyncIterator[Used]:
    """Read the events of the decider: it has used the commands that submitted these jobs."""
    log = LedgerLog(settings, decoder(settings), {PARTITION: Checkpoint()})
    found: set[str] = set()

    async def watch() -> None:
        while True:
            entries = await polled(log.poll, 100, 0.05)
            events = (entry.recorded.event for entry in entries if entry.recorded)
            found.update(event.job_id for event in events if event.job_id)

    task = asyncio.create_task(watch())
    try:
        yield lambda: found
    finally:
        task.cancel()
        await asyncio.wait({task})
        log.close()


@asynccontextmanager
async def running(main: Main, settings: Settings) -> AsyncIterator["asyncio.Task[None]"]:
    """Run a process as a task of this one; what ends it before its time is raised here."""
    task = asyncio.create_task(main(settings))
    try:
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _writer(kind: str) -> Consumer:
    others = "webhook" if kind == "postgres" else "postgres"
    return Consumer(
        name=f"the writer of {kind} reads deliveries",
        topic=lambda settings: topics.deliveries(settings, kind),
        main=write,
        watching=_answered,
        good=lambda number: deliveries(kind, number),
        misplaced=(
            Planted(deliveries(kind, 9), "foreign_org", "another-org"),
            Planted(deliveries(kind, 9, partition=PARTITION - 1), "foreign_org"),
            Planted(deliveries(kind, 9, partition=999), "foreign_org"),
            Planted(deliveries(others, 9), "foreign_org"),
            Planted(deliveries(kind), "foreign_org"),
            Planted(task(9), "bad_message"),
        ),
        writer_kind=kind,
        group_name=f"writers-{kind}",
    )


def _worker(kind: str, main: Main) -> Consumer:
    return Consumer(
        name=f"a worker reads tasks of the kind {kind}",
        topic=lambda settings: topics.tasks(settings, kind),
        main=main,
        watching=_answered,
        good=task,
        misplaced=(
            Planted(task(9), "foreign_org", "another-org"),
            Planted(task(9, PARTITION - 1), "foreign_org"),
            Planted(task(9, -1), "foreign_org"),
            Planted(deliveries("postgres", 9), "bad_message"),
        ),
        group_name=f"workers-{kind}",
    )


CONSUMERS = (
    Consumer(
        name="the decider reads commands",
        topic=topics.commands,
        main=decide,
        watching=_recorded,
        good=submission,
        before=(Planted(registration()),),
        misplaced=(
            Planted(submission(9), "foreign_org", "another-org"),
            Planted(submission(9, "nobody"), "foreign_org", "nobody"),
            Planted(task(9), "bad_message"),
        ),
    ),
    _worker("workflow", work),
    _worker("module", work_modules),
    _worker("spider", work_spiders),
    *map(
        _writer, ("postgres", "webhook", "clickhouse", "customer_postgres")
    ),  # warehouses of customers share one shell
)
