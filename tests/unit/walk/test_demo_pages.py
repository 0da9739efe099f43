"""The pages of the demo, walked through its workflows by all the parts at once, over a real socket."""

import pytest

from services.cli import demo_site
from services.cli.demo_site import start_demo_site
from services.cli.demo_workflows import PAGE_KINDS, PageKind, demo_workflows
from services.ledger.workflow import ExtractorNode, Node, ServiceNode, Workflow, node_of
from services.ledger.workflow_faults import faults
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
    site = await start_demo_site()
    provider = DirectProvider(max_body_bytes=1_000_000, allow_private_addresses=True)
    await provider.start()
    try:
        walker = Walker(provider, site.base_url + kind.path(7))
        return walker, await walker.walk(demo_workflows()[kind.workflow])
    finally:
        await provider.close()
        await site.close()


@pytest.mark.parametrize("kind", PAGE_KINDS, ids=lambda kind: kind.name)
async def test_each_kind_of_page_ends_as_the_table_says(kind: PageKind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_site, "SLOW_SECONDS", 0.01)
    walker, end = await walked(kind)
    if kind.state == "completed":
        assert isinstance(end, Finished)
        assert walker.normalized["title"]
    else:
        assert isinstance(end, Exhausted)
        assert (end.error_type, end.rule) == (kind.error_type, kind.rule)
    assert walker.retries == (demo_site.FLAKY_FAILURES if kind.name == "flaky" else 0)


async def test_the_data_of_product_and_article_are_what_the_pages_show() -> None:
    product, _ = await walked(PAGE_KINDS[0])
    assert product.normalized["price"] == {"amount": 60.65, "currency": "EUR"}
    article, _ = await walked(PAGE_KINDS[1])
    assert article.normalized["published"] == "2026-08-08T08:00:00Z"


def test_the_workflows_of_the_demo_have_no_fault() -> None:
    for workflow in demo_workflows().values():
        assert faults(workflow, selector_fault=selector_fault) == []


def test_the_demo_makes_a_hundred_and_twenty_jobs() -> None:
    assert sum(kind.jobs for kind in PAGE_KINDS) == 120
