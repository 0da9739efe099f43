"""A call that may cost more is made once the ledger has said that it is paid; all others wait for nothing."""

import contextlib
from typing import Any

from services.ledger.commands import AnyCommand, ClaimTask, ReportProgress
from services.ledger.replies import Done, Granted, Refused
from services.ledger.reports import HandedBack
from services.ledger.tasks import Resume
from services.runtime.errors import LedgerUnavailable
from services.workers import executor as executor_module
from services.workers.attempt import Report, attempt
from services.workers.executor import Executor
from services.workers.slots import Slots
from services.workers.steps import Tools
from services.workers.workflows import Workflows
from tests.eventually import eventually
from tests.unit.workers.fakes import (
    WORKFLOW_REF,
    MemoryBlobs,
    MemoryLedger,
    OneProvider,
    ScriptedProvider,
    broken,
    page,
    service,
    task,
    workflow,
)

RENDERS_THEN_FALLS_BACK = workflow(service("a", renderJs=True, provider="zyte", retries=1), service("b"))


class Walk:
    """One attempt at a document, and how it is told."""

    def __init__(self, document: bytes, *answers: Any) -> None:
        self.provider = ScriptedProvider(*answers)
        self.blobs = MemoryBlobs({WORKFLOW_REF: document})
        self.tools = Tools(OneProvider(self.provider), self.blobs)

    async def reports(self, granted: Granted) -> list[Report]:
        """Return all reports of an attempt that is never refused."""
        walk = attempt(self.tools, Workflows(self.blobs), task(), granted)
        async with contextlib.aclosing(walk) as reports:
            return [report async for report in reports]

    async def run(self, answer: Any) -> MemoryLedger:
        """Run it in an executor whose ledger answers so, to its end."""
        ledger, slots = MemoryLedger(answer), Slots(1)
        workflows = Workflows(self.blobs)
        executor = Executor(ledger, "w", slots, lambda of, granted: attempt(self.tools, workflows, of, granted))
        await executor.accept(task(), lambda: None)
        await eventually(lambda: slots.free == 1)
        return ledger


async def test_each_dearer_call_is_asked_for_after_the_node_before_it_was_told() -> None:
    walk = Walk(RENDERS_THEN_FALLS_BACK, broken(), page())
    first, second, last = await walk.reports(Granted(attempt=1, resume=Resume(), asks_first=True))
    assert (first.asks, second.asks, last.asks) == (True, True, False)
    [entry], [a] = first.nodes, second.nodes
    assert (entry.next_node_id, entry.next_renders, entry.next_is_fallback) == ("a", True, False)
    assert (a.next_node_id, a.next_renders, a.next_is_fallback) == ("b", False, True)
    assert not any(node.next_renders or node.next_is_fallback for node in last.nodes)


async def test_a_job_that_pays_nothing_more_asks_nothing() -> None:
    walk = Walk(RENDERS_THEN_FALLS_BACK, broken(), page())
    reports = await walk.reports(Granted(attempt=1, resume=Resume()))
    assert not any(report.asks for report in reports)


async def test_a_job_that_goes_on_at_a_dearer_node_has_paid_for_it() -> None:
    walk = Walk(RENDERS_THEN_FALLS_BACK, page())
    [report] = await walk.reports(Granted(attempt=2, resume=Resume(step=2, node_id="b"), asks_first=True))
    assert not report.asks


async def test_a_fallback_behind_a_split_is_one_too() -> None:
    document = workflow(service("a", retries=1), service("b"))
    document = document.replace(b'"source": "a", "target": "b"', b'"source": "a", "target": "s"')
    document = document.replace(b'{"kind": "entry", "id": "in"}', b'{"kind": "entry", "id": "in"}, %s' % SPLIT)
    document = document.replace(b'"edges": [', b'"edges": [{"source": "s", "target": "b", "percent": 100}, ')
    walk = Walk(document, broken(), page())
    reports = await walk.reports(Granted(attempt=1, resume=Resume(), asks_first=True))
    assert [(node.node_id, node.next_is_fallback) for node in reports[0].nodes if node.node_id != "in"] == [
        ("a", False),
        ("s", True),
    ]


SPLIT = b'{"kind": "split", "id": "s"}'


async def test_a_refused_call_is_not_made() -> None:
    walk = Walk(RENDERS_THEN_FALLS_BACK)

    def answer(command: AnyCommand) -> Any:
        if isinstance(command, ClaimTask):
            return Granted(attempt=1, resume=Resume(), asks_first=True)
        return Refused(code="quota_exhausted")

    ledger = await walk.run(answer)
    [asked] = ledger.reports()
    assert (asked.requester, asked.outcome, walk.provider.calls) == (ledger.boot_id, None, [])


async def test_a_worker_that_asks_about_a_job_that_was_ended_says_that_it_has_stopped() -> None:
    walk = Walk(RENDERS_THEN_FALLS_BACK)

    def answer(command: AnyCommand) -> Any:
        if isinstance(command, ClaimTask):
            return Granted(attempt=1, resume=Resume(), asks_first=True)
        return Refused(code="job_terminal")

    asked, last = (await walk.run(answer)).reports()
    assert (asked.outcome, last.outcome, last.nodes, walk.provider.calls) == (None, HandedBack(), (), [])


async def test_an_unanswered_question_is_asked_again_by_the_same_name(monkeypatch: Any) -> None:
    monkeypatch.setattr(executor_module, "RETRY_SECONDS", 0.01)
    walk, asked = Walk(RENDERS_THEN_FALLS_BACK, page()), list[str]()

    def answer(command: AnyCommand) -> Any:
        if isinstance(command, ClaimTask):
            return Granted(attempt=1, resume=Resume(), asks_first=True)
        assert isinstance(command, ReportProgress)
        asked.append(command.command_id)
        return LedgerUnavailable("away") if len(asked) < 3 else Done()

    ledger = await walk.run(answer)
    assert (len(asked), len(set(asked)), len(walk.provider.calls)) == (3, 1, 1)
    assert ledger.reports()[-1].outcome is not None
