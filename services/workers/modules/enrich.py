"""`enrich`: the results of another job, each with what an extractor reads from a page that it names."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from services.ledger.workflow import ExtractorSettings
from services.workers.modules.pages import extract_faults, in_order, read_page
from services.workers.modules.protocol import Item, Limits, Outcome, Tools


class EnrichParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an `enrich` job takes: a job of the same org, and which field of its results is an address."""

    job_id: Annotated[str, Meta(min_length=1, max_length=200)]
    url_field: Annotated[str, Meta(min_length=1, max_length=128)] = "url"
    extract: ExtractorSettings


class Enrich:
    """Results with more fields."""

    name = "enrich"
    params = EnrichParams
    limits = Limits()
    item_credits = 1

    def faults(self, params: EnrichParams) -> list[str]:
        """Return what is wrong with params."""
        return extract_faults(params.extract)

    async def plan(self, params: EnrichParams, tools: Tools) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the results of the other job as they are now: what becomes of it later does not matter."""
        async for row in tools.items_of(params.job_id):
            yield {"row": row}

    def run(self, params: EnrichParams, items: Sequence[Item], tools: Tools) -> AsyncGenerator[Outcome]:
        """Read one page for each."""
        own_url = any(field.name == "url" for field in params.extract.fields)

        async def work(item: Item) -> Outcome:
            row = item.value["row"]
            url = row.get(params.url_field)
            if not isinstance(url, str):
                return Outcome(item.number, error="no_url", message=f"{params.url_field!r} is no text")
            read = await read_page(item, url, params.extract, tools, {})
            # where the page was found in the end is no field of it, unless one is called so
            added = [{name: each[name] for name in each if name != "url" or own_url} for each in read.rows]
            return Outcome(item.number, [{**row, **each} for each in added], read.error, read.message)

        return in_order(items, work)
