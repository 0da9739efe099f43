"""What an attempt reports, node by node, for every way a walk can go."""

import asyncio
import contextlib
import gc
import json
from dataclasses import replace
from typing import Any, NoReturn

import msgspec
import pytest

from schemas.values import NodeOutcome
from services.ledger.reports import Extracted, Failed, NodeReport, RetryLater
from services.ledger.tasks import Task
from services.runtime.errors import BlobFault, CredentialsAway
from services.workers.attempt import Report, attempt
from services.workers.extraction import CONTENT_TYPE, Document
from services.workers.providers.protocol import FetchRequest, FetchResult
from services.workers.readers import PageTooHard, Readers
from services.workers.steps import Tools
from services.workers.workflows import Workflows
from tests.unit.workers.fakes import (
    WORKFLOW_REF,
    MemoryBlobs,
    OneProvider,
    ScriptedProvider,
    broken,
    granted,
    page,
    service,
    task,
    workflow,
)

CAPTCHA = page(b"<html><head><title>Are you a robot?</title></head><body><h1>Verify you are human</h1></body></html>")


class Run:
    """One attempt and what came of it."""

    def __init__(self, document: bytes, *answers: Any, blobs: MemoryBlobs | None = None) -> None:
        self.provider = ScriptedProvider(*answers)
        self.blobs = blobs or MemoryBlobs()
        self.blobs.blobs[WORKFLOW_REF] = document
        self.reports: list[Report] = []

    async def go(self, of: Task | None = None, attempt_number: int = 1, **resume: Any) -> "Run":
        """Run the attempt to its end."""
        tools = Tools(OneProvider(self.provider), self.blobs)
        grant = granted(attempt_number, **resume)
        async with contextlib.aclosing(attempt(tools, Workflows(self.blobs), of or task(), grant)) as reports:
            self.reports = [report async for report in reports]
        return self

    @property
    def nodes(self) -> list[NodeReport]:
        """Every node told, in order."""
        return [node for report in self.reports for node in report.nodes]

    @property
    def outcome(self) -> Any:
        """How the attempt ended; only the last report may say it."""
        assert all(report.outcome is None for report in self.reports[:-1])
        return self.reports[-1].outcome

    def path(self) -> list[tuple[str, str, str, str]]:
        """Return node, outcome, edge and next node of each visit."""
        return [(node.node_id, str(node.outcome), node.edge, node.next_node_id) for node in self.nodes]


def said(private: bytes) -> dict[str, str]:
    """Decode private bytes."""
    assert private[:1] == b"\0"
    found: dict[str, str] = json.loads(private[1:])
    return found


async def test_a_good_page_is_told_node_by_node_with_the_extraction_as_outcome() -> None:
    run = await Run(workflow(), page()).go()
    assert run.path() == [
        ("in", "succeeded", "default", "a"),
        ("a", "succeeded", "success", "read"),
        ("read", "succeeded", "success", "store"),
        ("store", "succeeded", "default", "out"),
        ("out", "succeeded", "", ""),
    ]
    assert [node.step for node in run.nodes] == [0, 1, 2, 3, 4]
    assert [node.node_kind for node in run.nodes] == ["entry", "service", "extractor", "warehouse", "result"]
    assert run.outcome == Extracted(
        result_ref=run.blobs.key("org-1/job-1/1/page-1."),
        content_type="text/html; charset=utf-8",
        result_bytes=len(page().body),
        extraction_ref=run.blobs.key("org-1/job-1/1/extraction-2."),
        schema_id="product",
        items=1,
        quality_completeness=1.0,
        quality_validation=1.0,
        quality_composite=1.0,
    )
    assert said(run.nodes[1].private) == {"finalUrl": "http://shop.example/final"}


async def test_what_happens_at_the_same_instant_is_told_in_one_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.workers.attempt.HOLD_SECONDS", 60.0)  # an instant is long on a busy machine
    run = await Run(workflow(), page()).go()
    assert len(run.reports) == 1


async def test_bodies_are_in_the_blob_store_before_the_report_that_names_them() -> None:
    run = Run(workflow(), page())
    tools = Tools(OneProvider(run.provider), run.blobs)
    async for report in attempt(tools, Workflows(run.blobs), task(), granted()):
        for node in report.nodes:
            assert not node.body_ref or node.body_ref in run.blobs.blobs
    document = msgspec.json.decode(run.blobs.blobs[run.blobs.key("org-1/job-1/1/extraction-2.")], type=Document)
    assert document.normalized["name"] == "Lamp"
    assert document.page.ref == run.blobs.key("org-1/job-1/1/page-1.")


async def test_a_refused_page_goes_down_the_fail_edge_to_the_next_provider() -> None:
    run = await Run(workflow(service("a"), service("b")), CAPTCHA, page()).go()
    refused = run.nodes[1]
    assert (refused.outcome, refused.rule, refused.edge, refused.next_node_id) == (
        NodeOutcome.REFUSED,
        "captcha",
        "fail",
        "b",
    )
    assert isinstance(run.outcome, Extracted)


async def test_when_every_branch_ends_in_a_verdict_the_job_fails_by_validation() -> None:
    run = await Run(workflow(), CAPTCHA).go()
    assert run.path()[1:] == [("a", "refused", "fail", "bad"), ("bad", "failed", "", "")]
    assert isinstance(run.outcome, Failed)
    assert (run.outcome.error_type, run.outcome.rule, run.outcome.node_id) == ("validation_failed", "captcha", "a")


async def test_an_instant_retry_stays_in_the_run_with_an_entry_in_the_trace() -> None:
    run = await Run(workflow(service("a", retries=3, retryBackoff="instant")), broken(), broken(), page()).go()
    tries = [(n.try_number, str(n.outcome), n.edge, n.next_node_id) for n in run.nodes if n.node_id == "a"]
    assert tries == [(1, "failed", "", ""), (2, "failed", "", ""), (3, "succeeded", "success", "read")]
    assert isinstance(run.outcome, Extracted)


async def test_a_deferred_retry_ends_the_attempt_with_its_delay() -> None:
    run = await Run(workflow(service("a", retries=2, retryDelayMs=1000, jitter=0)), broken()).go()
    assert run.path()[-1] == ("a", "failed", "", "")
    assert run.outcome == RetryLater(node_id="a", try_number=2, delay_ms=1000, error_type="http_5xx")


async def test_a_resumed_walk_tries_the_node_again_and_numbers_on() -> None:
    document = workflow(service("a", retries=2), service("b"))
    run = await Run(document, broken(), page()).go(attempt_number=2, step=2, node_id="a", try_number=2)
    assert [(n.step, n.node_id, n.try_number) for n in run.nodes[:2]] == [(2, "a", 2), (3, "b", 1)]
    assert run.nodes[0].edge == "fail"
    assert run.outcome.result_ref == run.blobs.key("org-1/job-1/2/page-3.")


async def test_a_resumed_walk_reads_the_page_that_an_earlier_attempt_left() -> None:
    blobs = MemoryBlobs({"org-1/job-1/1/page-1": page().body})
    run = await Run(workflow(), blobs=blobs).go(
        attempt_number=2, step=2, node_id="read", body_ref="org-1/job-1/1/page-1", content_type="text/html"
    )
    assert not run.provider.calls
    assert (run.outcome.result_ref, run.outcome.extraction_ref) == (
        "org-1/job-1/1/page-1",
        run.blobs.key("org-1/job-1/2/extraction-2."),
    )


async def test_a_resumed_walk_keeps_the_extraction_that_an_earlier_attempt_stored() -> None:
    first = await Run(workflow(), page()).go()
    second = await Run(workflow(), blobs=first.blobs).go(
        attempt_number=2,
        step=3,
        node_id="store",
        body_ref=first.blobs.key("org-1/job-1/1/extraction-2."),
        content_type=CONTENT_TYPE,
    )
    assert second.outcome == first.outcome


async def test_a_resumed_walk_remembers_that_a_branch_ended_in_an_error() -> None:
    document = workflow(service("a"), service("b"))
    run = await Run(document, CAPTCHA).go(step=2, node_id="b", saw_error=True)
    assert run.outcome.error_type == "providers_exhausted"


async def test_a_fault_in_a_node_fails_the_job_and_tells_why() -> None:
    run = await Run(workflow(), ZeroDivisionError("by zero")).go()
    assert (run.outcome.error_type, run.outcome.node_id) == ("internal", "a")
    assert said(run.outcome.private) == {"message": "ZeroDivisionError: by zero"}
    assert [node.node_id for node in run.nodes] == ["in"]


async def test_header_bytes_that_are_no_text_are_replaced_before_anything_is_stored_or_told() -> None:
    odd = replace(page(), content_type="text/html; charset=\udcff" + "x" * 1000, final_url="http://shop.example/\udcfe")
    run = await Run(workflow(), odd).go()
    assert isinstance(run.outcome, Extracted)
    assert run.outcome.content_type == run.nodes[1].content_type == "text/html; charset=\ufffd".ljust(255, "x")
    assert said(run.nodes[1].private) == {"finalUrl": "http://shop.example/\ufffd"}
    for report in run.reports:
        msgspec.msgpack.encode((report.nodes, report.outcome))


async def test_an_error_text_that_is_no_text_is_told_with_what_cannot_be_stored_replaced() -> None:
    run = await Run(workflow(), ValueError("\udcff and \0")).go()
    assert said(run.outcome.private) == {"message": "ValueError: \ufffd and \ufffd"}


class NothingIsRead(Readers):
    """Readers to whom every page is too hard."""

    async def read(self, work: object) -> NoReturn:
        """Give up at once."""
        raise PageTooHard("not read within 0 s")


async def test_a_page_that_is_not_read_in_time_goes_down_the_fail_edge() -> None:
    run = Run(workflow(service("a"), service("b")), page(), broken())
    tools = Tools(OneProvider(run.provider), run.blobs, NothingIsRead())
    run.reports = [report async for report in attempt(tools, Workflows(run.blobs), task(), granted())]
    first = next(node for node in run.nodes if node.node_id == "a")
    assert (first.outcome, first.error_type, first.edge, first.next_node_id) == ("failed", "page_too_hard", "fail", "b")


async def test_an_outage_of_the_blob_store_defers_the_job_instead_of_failing_it() -> None:
    run = Run(workflow(), page())
    run.blobs.broken = BlobFault("no space")
    await run.go()
    assert run.outcome.error_type == "blobs_unavailable"
    assert run.outcome.node_id == ""


async def test_an_outage_of_where_credentials_are_kept_is_no_try_of_the_node() -> None:
    run = await Run(workflow(service("a", retries=1)), CredentialsAway("down")).go()
    told = run.outcome
    assert isinstance(told, RetryLater)
    assert (told.error_type, told.node_id, told.try_number) == ("credentials_unavailable", "a", 1)


async def test_a_document_that_is_no_workflow_fails_the_job_as_such() -> None:
    run = await Run(b'{"nodes": 3}').go()
    assert run.outcome.error_type == "workflow_invalid"


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (('"target": "store"', '"target": "nowhere"'), "edges[3].target"),
        (('"kind": "entry"', '"kind": "result"'), "no node is of kind entry"),
        (('"kind": "warehouse"', '"kind": "failed"'), "warehouse"),
        (('"settings": {}', '"settings": {"provider": "gone"}'), "nodes[1].settings.provider"),
    ],
)
async def test_a_document_in_which_a_walk_would_get_lost_fails_the_job_with_its_faults(
    spoil: tuple[str, str], fault: str
) -> None:
    document = workflow(service("a")).decode()
    assert spoil[0] in document
    run = await Run(document.replace(*spoil).encode()).go()
    assert run.outcome.error_type == "workflow_invalid"
    assert fault in said(run.outcome.private)["message"]
    assert not run.provider.calls


async def test_a_split_is_a_step_of_the_trace_that_names_the_branch_taken() -> None:
    document = json.loads(workflow(service("a"), service("b")))
    document["nodes"].append({"kind": "split", "id": "half"})
    document["edges"][0]["target"] = "half"
    document["edges"] += [{"source": "half", "target": name, "percent": 50} for name in ("a", "b")]
    taken = set()
    for number in range(20):
        of = msgspec.structs.replace(task(), job_id=f"job-{number}")
        run = await Run(json.dumps(document).encode(), page()).go(of=of)
        [split] = [node for node in run.nodes if node.node_kind == "split"]
        assert (split.node_id, split.edge) == ("half", "default")
        assert split.next_node_id == run.nodes[split.step + 1].node_id
        taken.add(split.next_node_id)
    assert taken == {"a", "b"}


async def test_a_document_that_leads_to_a_failed_node_says_so() -> None:
    document = workflow(service("a")).replace(b'"target": "out"', b'"target": "bad"')
    run = await Run(document.replace(b'{"kind": "result", "id": "out"}, ', b""), page()).go()
    assert (run.outcome.error_type, run.outcome.node_id) == ("providers_exhausted", "store")
    assert "'store' to 'bad'" in said(run.outcome.private)["message"]


async def test_a_task_whose_private_bytes_cannot_be_read_fails_the_job() -> None:
    run = await Run(workflow()).go(of=msgspec.structs.replace(task(), private=b"\x01secret"))
    assert run.outcome.error_type == "internal"
    assert "secret" not in said(run.outcome.private)["message"]


async def test_a_finished_node_is_told_while_the_next_one_takes_its_time() -> None:
    run = Run(workflow(service("a"), service("b")), CAPTCHA, None)
    tools = Tools(OneProvider(run.provider), run.blobs)
    async with contextlib.aclosing(attempt(tools, Workflows(run.blobs), task(), granted())) as reports:
        first = await anext(reports)
    assert [node.node_id for node in first.nodes] == ["in", "a"]
    assert first.outcome is None


class FailsWhenTold(ScriptedProvider):
    """Fails at its second call, once it is told to."""

    def __init__(self, first: FetchResult) -> None:
        super().__init__(first)
        self.fail = asyncio.Event()

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Answer once."""
        if self.answers:
            return await super().fetch(request)
        await self.fail.wait()
        raise BlobFault("away")


async def test_a_walk_that_is_left_while_its_visit_fails_leaves_no_fault_that_nobody_looked_at() -> None:
    document, provider, unseen = workflow(service("a"), service("b")), FailsWhenTold(CAPTCHA), list[Any]()
    blobs = MemoryBlobs({WORKFLOW_REF: document})
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: unseen.append(context))
    walking = attempt(Tools(OneProvider(provider), blobs), Workflows(blobs), task(), granted())
    assert (await anext(walking)).outcome is None, "what was seen before, while the second visit goes on"
    provider.fail.set()
    for _ in range(10):  # the visit fails, and nobody has asked yet what came of it
        await asyncio.sleep(0)
    await walking.aclose()
    gc.collect()
    assert unseen == []
