"""Pages read by an extractor, several at a time, in their order: what the modules of ours have in common."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from services.ledger.workflow import ExtractorSettings, GateRules
from services.ledger.workflow_faults import extractor_faults
from services.workers.extract.effort import slow_fields
from services.workers.extract.extractor import Extraction, Tell, extract, refusal, untold
from services.workers.extract.selectors import selector_fault
from services.workers.gate.judge import Page, judge
from services.workers.gate.text import decoded
from services.workers.modules.protocol import Item, Outcome, TooHard, Tools
from services.workers.providers.protocol import Fetched, ProviderError

AT_ONCE = 8
TOO_HARD = "page_too_hard"


async def in_order(
    items: Sequence[Item], work: Callable[[Item], Awaitable[Outcome]], at_once: int = AT_ONCE
) -> AsyncGenerator[Outcome]:
    """Yield what comes of items in their order, while so many are worked at."""
    under_way: list[asyncio.Task[Outcome]] = []
    following = iter(items)
    try:
        for item in following:
            under_way.append(asyncio.ensure_future(work(item)))
            if len(under_way) == at_once:
                yield await under_way.pop(0)
        while under_way:
            yield await under_way.pop(0)
    finally:
        for task in under_way:
            task.cancel()
        if under_way:
            await asyncio.wait(under_way)


async def read_page(
    item: Item, url: str, settings: ExtractorSettings, tools: Tools, beside: Mapping[str, Any]
) -> Outcome:
    """Fetch a page, judge it, and return what an extractor reads from it, each result with what stands beside."""
    answer = await tools.fetch(url)
    if isinstance(answer, ProviderError):
        return Outcome(item.number, error=answer.error_type, message=answer.message)
    try:
        work = partial(_read, answer, settings)
        found = await (tools.read_apart(work) if slow_fields(settings, answer.body) else tools.read(work))
    except TooHard as error:
        return Outcome(item.number, error=TOO_HARD, message=str(error))
    if isinstance(found, tuple):
        rule, evidence = found
        return Outcome(item.number, error=rule, message=evidence)
    rows = [{**beside, "url": answer.final_url, **each} for each in found.items]
    return Outcome(item.number, rows=rows)


def _read(answer: Fetched, settings: ExtractorSettings, tell: Tell = untold) -> Extraction | tuple[str, str]:
    verdict = judge(Page(answer.status, answer.content_type, answer.body, answer.final_url), GateRules())
    if verdict:
        return verdict.rule, verdict.evidence
    found = extract(decoded(answer.body, answer.content_type).text, answer.final_url, settings, tell)
    return refusal(found, settings) or found


def extract_faults(settings: ExtractorSettings) -> list[str]:
    """Return what is wrong with the settings of an extractor, as of one in a workflow."""
    return [f"{fault.path}: {fault.message}" for fault in extractor_faults("extract", settings, selector_fault)]
