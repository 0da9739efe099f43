"""The document of an extraction: what the extractor read, of which page, as one JSON blob."""

from typing import Any

import msgspec

from services.ledger.workflow import ExtractorSettings
from services.workers.blobs import Blobs
from services.workers.carried import Body, Carried, Summary
from services.workers.extract.extractor import Extraction, Tell, extract, refusal, untold
from services.workers.gate.text import decoded
from services.workers.job import Job
from services.workers.walk import Refused

CONTENT_TYPE = "application/vnd.jobledger.extraction+json"


class _Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """camelCase, as everything that the API hands out."""


class Problem(_Wire, frozen=True, kw_only=True):
    """One thing that could not be read as it should."""

    item: int  # ordinal, from 0
    field: str
    code: str
    message: str = ""


class Quality(_Wire, frozen=True, kw_only=True):
    """How complete and how well-formed the items are, each 0 to 1."""

    completeness: float = 0.0
    validation: float = 0.0
    composite: float = 0.0


class PageSource(_Wire, frozen=True, kw_only=True):
    """The page that was read."""

    ref: str
    content_type: str = ""
    url: str = ""


class Document(_Wire, frozen=True, kw_only=True):
    """The whole extraction: `normalized` is the one item of a page, or `{"items": [...]}` of a list page."""

    page: PageSource
    schema_id: str = ""
    data_type: str = ""
    normalized: dict[str, Any] = {}
    item_count: int = 0
    problems: list[Problem] = []
    empty_reason: str = ""  # why there is no value at all
    replaced_characters: int = 0  # NUL and lone surrogates that became U+FFFD
    quality: Quality = Quality()


def read_page(body: Body, settings: ExtractorSettings, tell: Tell = untold) -> Document | Refused:
    """Read a page as an extractor node asks: its document, or the rule by which it is refused."""
    found = extract(decoded(body.data, body.content_type).text, body.url, settings, tell)
    refused = refusal(found, settings)
    return Refused(*refused) if refused else _document(body, settings, found)


async def carried_on(store: Blobs, job: Job) -> Carried:
    """Return what a resumed walk carries; the newest body is a page, or an extraction that names its page."""
    resume = job.resume
    if not resume.body_ref:
        return Carried()
    data = await store.get(resume.body_ref)
    if resume.content_type != CONTENT_TYPE:
        return Carried(Body(resume.body_ref, resume.content_type, data, job.url))
    document = msgspec.json.decode(data, type=Document)
    page = document.page
    body = Body(page.ref, page.content_type, await store.get(page.ref), page.url)
    return Carried(body, summary_of(document, resume.body_ref))


def summary_of(document: Document, ref: str) -> Summary:
    """Return what is said of a stored document."""
    quality = document.quality
    return Summary(
        document.schema_id,
        document.data_type,
        document.item_count,
        quality.completeness,
        quality.validation,
        quality.composite,
        ref,
    )


def _document(body: Body, settings: ExtractorSettings, found: Extraction) -> Document:
    return Document(
        page=PageSource(ref=body.ref, content_type=body.content_type, url=body.url),
        schema_id=settings.schema_id,
        data_type=settings.data_type,
        normalized=found.normalized,
        item_count=len(found.items),
        problems=[
            Problem(item=problem.item, field=problem.field, code=problem.code, message=problem.message)
            for problem in found.problems
        ],
        empty_reason=found.empty_reason,
        replaced_characters=found.replaced_characters,
        quality=Quality(completeness=found.completeness, validation=found.validation, composite=found.composite),
    )
