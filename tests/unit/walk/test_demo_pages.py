"""The pages of the demo, walked through its workflows by all the parts at once, over a real socket."""

from html import escape

import pytest

from services.cli import demo_site
from services.cli.demo_kinds import JOBS, PAGE_KINDS, PageKind
from services.cli.demo_pages import LARGE_BYTES, large_page
from services.cli.demo_site import serving
from services.cli.demo_workflows import demo_workflows
from services.ledger.workflow import ExtractorNode, Node, ServiceNode, Workflow, node_of
from services.ledger.workflow_faults import faults
from services.localstack.attach import NEEDED
from services.runtime.networks import LOCAL
from services.runtime.settings import settings_from
from services.workers.extract.extractor import extract, refusal
from services.workers.extract.selectors import selector_fault
from services.workers.gate.judge import Page, judge
from services.workers.gate.text import decoded
from services.workers.providers.direct import DirectProvider
from services.workers.providers.protocol import Fetched, FetchRequest, Provider, ProviderError
from services.workers.walk import (
    Continue,
    Errored,
    Exhausted,
    Finished,
    NodeOutcome,
    Passed,
    Refused,
    Retry,
    Step,
    after,
    begin,
)

MAX_BODY_BYTES = settings_from(dict.fromkeys(NEEDED, "")).max_body_bytes


class Walker:
    """Walks one job without a ledger, as a worker would."""

    def __init__(self, provider: Provider, url: str) -> None:
        self.provider = provider
        self.url = url
        self.page: Fetched | None = None
        self.normalized: dict[str, object] = {}
        self.retries = 0

    async def walk(self, workflow: Workflow) -> Finished | Exhausted:
        step: Step = begin(workflow, self.url)
        while isinstance(step, Continue | Retry):
            self.retries += isinstance(step, Retry)
            outcome = await self.run(node_of(workflow, step.point.node_id))
            step = after(workflow, step.point, outcome, self.url)
        return step

    async def run(self, node: Node) -> NodeOutcome:
        if isinstance(node, ServiceNode):
            answer = await self.provider.fetch(FetchRequest(self.url, node.settings))
            if isinstance(answer, ProviderError):
                return Errored(answer.error_type, answer.message, answer.retryable, answer.retry_after_seconds)
            self.page = answer
            page = Page(answer.status, answer.content_type, answer.body, answer.final_url)
            verdict = judge(page, node.settings.validation)
            return Refused(verdict.rule, verdict.evidence) if verdict else Passed()
        if isinstance(node, ExtractorNode):
            assert self.page is not None
            text = decoded(self.page.body, self.page.content_type).text
            extraction = extract(text, self.page.final_url, node.settings)
            self.normalized = extraction.normalized
            refused = refusal(extraction, node.settings)
            return Refused(*refused) if refused else Passed()
        return Passed()


async def walked(kind: PageKind) -> tuple[Walker, Finished | Exhausted]:
    provider = DirectProvider(max_body_bytes=MAX_BODY_BYTES, allowed_networks=LOCAL)
    await provider.start()
    try:
        async with serving() as site:
            walker = Walker(provider, site + kind.path(7))
            return walker, await walker.walk(demo_workflows()[kind.workflow])
    finally:
        await provider.close()


@pytest.mark.parametrize("kind", PAGE_KINDS, ids=lambda kind: kind.name)
async def test_each_kind_of_page_ends_as_the_table_says(kind: PageKind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_site, "SLOW_SECONDS", 0.01)
    walker, end = await walked(kind)
    if kind.state == "completed":
        assert isinstance(end, Finished)
        assert walker.normalized["title"] == kind.title_of(walker.url)
    else:
        assert isinstance(end, Exhausted)
        cause = end.rule or end.message.partition(":")[0]
        assert (end.error_type, cause) == (kind.error_type, kind.cause)
    assert walker.retries == (demo_site.FLAKY_FAILURES if kind.name == "flaky" else 0)


async def test_the_data_of_product_and_article_are_what_the_pages_show() -> None:
    product, _ = await walked(PAGE_KINDS[0])
    assert product.normalized["price"] == {"amount": "60.65", "currency": "EUR"}
    article, _ = await walked(PAGE_KINDS[1])
    assert article.normalized["published"] == "2026-08-08T08:00:00Z"


def test_the_workflows_of_the_demo_have_no_fault() -> None:
    for workflow in demo_workflows().values():
        assert faults(workflow, selector_fault=selector_fault) == []


@pytest.mark.parametrize(
    ("name", "encoding", "declared_as"),
    [("latin1", "iso-8859-1", "ISO-8859-1"), ("shift-jis", "shift_jis", "Shift_JIS"), ("undeclared", "cp1252", "")],
)
async def test_a_page_in_another_encoding_is_in_it_and_is_no_utf_8(name: str, encoding: str, declared_as: str) -> None:
    kind = next(kind for kind in PAGE_KINDS if kind.name == name)
    walker, _ = await walked(kind)
    assert walker.page
    title = kind.title_of(walker.url)
    assert title
    assert escape(title).encode(encoding) in walker.page.body
    with pytest.raises(UnicodeDecodeError):
        walker.page.body.decode()
    said = f"{walker.page.content_type} {walker.page.body.decode('ascii', 'replace')}"
    assert said.count("charset=") == (1 if declared_as else 0)
    assert declared_as in said


def test_a_large_page_has_two_megabytes() -> None:
    assert LARGE_BYTES <= len(large_page(7).encode()) < LARGE_BYTES * 1.01


def test_the_demo_makes_three_hundred_jobs() -> None:
    assert JOBS == 300
