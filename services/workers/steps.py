"""One visit of one node: the provider is called and its answer judged, or the page is read."""

import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, assert_never

import msgspec

from schemas.storable import storable_text
from services.ledger.workflow import (
    EntryNode,
    ExtractorNode,
    ExtractorSettings,
    FailedNode,
    GateRules,
    Node,
    ResultNode,
    ServiceNode,
    SplitNode,
    WarehouseNode,
)
from services.runtime.blob import body_key
from services.workers import extraction
from services.workers.blobs import Blobs
from services.workers.carried import NOTHING, Body, Carried
from services.workers.extract.effort import is_slow, slow_fields
from services.workers.gate.judge import Page, Verdict, judge, judge_and_tell
from services.workers.job import Job
from services.workers.providers.protocol import Fetched, FetchRequest, FetchResult, Provider, ProviderError
from services.workers.readers import PageTooHard, Readers, SelectorTooHard
from services.workers.walk import Errored, NodeOutcome, Passed, Refused

TOO_HARD, SELECTOR_TOO_HARD = "page_too_hard", "selector_too_hard"
CONTENT_TYPE_CHARS = 255  # a hundred deliveries, each with its content type, have to fit a record


class Providers(Protocol):
    """Providers by name; `services.workers.providers.registry.Providers` is one."""

    def provider(self, name: str) -> Provider:
        """Return a provider, or raise KeyError."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What visits are made with."""

    providers: Providers
    blobs: Blobs
    readers: Readers = field(default_factory=Readers)


@dataclass(frozen=True, slots=True)
class Visit:
    """What came of one visit, and what the walk carries on from it."""

    outcome: NodeOutcome
    carried: Carried = NOTHING
    latency_ms: int = 0
    provider: str = ""
    status_code: int = 0
    final_url: str = ""
    body_ref: str = ""  # of the body that this node produced
    content_type: str = ""
    body_bytes: int = 0


async def visit(tools: Tools, job: Job, node: Node, step: int, carried: Carried) -> Visit:
    """Do the work of a node; raises BlobFault, and whatever is wrong with the code of a node."""
    started = time.monotonic()
    match node:
        case ServiceNode():
            seen = await _service(tools, job, node, step, carried)
        case ExtractorNode():
            seen = await _extractor(tools, job, node, step, carried)
        case WarehouseNode() | EntryNode() | SplitNode() | ResultNode() | FailedNode():  # no work of their own
            seen = Visit(Passed(), carried)
        case _:
            assert_never(node)
    return replace(seen, latency_ms=round((time.monotonic() - started) * 1000))


async def _service(tools: Tools, job: Job, node: ServiceNode, step: int, carried: Carried) -> Visit:
    settings = node.settings
    provider = tools.providers.provider(settings.provider)
    answer = _storable(await provider.fetch(FetchRequest(job.url, settings, job.job_id, job.org_id)))
    if isinstance(answer, ProviderError):
        error = Errored(answer.error_type, answer.message, answer.retryable, answer.retry_after_seconds)
        return Visit(error, carried, provider=settings.provider, status_code=answer.status_code)
    seen = Visit(
        Passed(),
        carried,
        provider=settings.provider,
        status_code=answer.status,
        final_url=answer.final_url,
        content_type=answer.content_type,
        body_bytes=len(answer.body),
    )
    page = Page(answer.status, answer.content_type, answer.body, answer.final_url)
    try:
        verdict = await _judged(tools.readers, page, settings.validation)
    except PageTooHard as error:
        return replace(seen, outcome=_too_hard(error))
    if verdict:
        return replace(seen, outcome=Refused(verdict.rule, verdict.evidence))
    return await _kept(tools, job, step, answer, seen)


async def _judged(readers: Readers, page: Page, asked: GateRules) -> Verdict | None:
    if is_slow("css", asked.required_selector, page.body):
        return await readers.read_apart(partial(judge_and_tell, page, asked))
    return await readers.read(partial(judge, page, asked))


def _too_hard(error: PageTooHard) -> Errored:
    return Errored(SELECTOR_TOO_HARD if isinstance(error, SelectorTooHard) else TOO_HARD, str(error))


def _storable(answer: FetchResult) -> FetchResult:
    """Replace what no record can hold: HTTP clients hand on header bytes that are no text as half surrogate pairs."""
    if isinstance(answer, ProviderError):
        return replace(answer, message=storable_text(answer.message))
    content_type = storable_text(answer.content_type)[:CONTENT_TYPE_CHARS]
    return replace(answer, content_type=content_type, final_url=storable_text(answer.final_url))


async def _kept(tools: Tools, job: Job, step: int, answer: Fetched, seen: Visit) -> Visit:
    key = body_key(job.org_id, job.job_id, job.attempt, f"page-{step}", answer.body)
    await tools.blobs.put(key, answer.body)
    body = Body(key, answer.content_type, answer.body, answer.final_url)
    return replace(seen, carried=Carried(body), body_ref=key)


async def _extractor(tools: Tools, job: Job, node: ExtractorNode, step: int, carried: Carried) -> Visit:
    if carried.body is None:
        return Visit(Errored("no_page", "no node before this one left a page"), NOTHING)
    try:
        document = await _read(tools.readers, carried.body, node.settings)
    except PageTooHard as error:
        return Visit(_too_hard(error), carried)
    if isinstance(document, Refused):
        return Visit(document, carried)
    data = msgspec.json.encode(document)
    key = body_key(job.org_id, job.job_id, job.attempt, f"extraction-{step}.json", data)
    await tools.blobs.put(key, data)
    return Visit(
        Passed(),
        replace(carried, extraction=extraction.summary_of(document, key)),
        body_ref=key,
        content_type=extraction.CONTENT_TYPE,
        body_bytes=len(data),
    )


async def _read(readers: Readers, body: Body, settings: ExtractorSettings) -> extraction.Document | Refused:
    work = partial(extraction.read_page, body, settings)
    return await (readers.read_apart(work) if slow_fields(settings, body.data) else readers.read(work))
