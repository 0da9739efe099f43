"""`scrap`: every query in every zone, at a URL made of both, read by an extractor."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from itertools import product
from typing import Annotated, Any
from urllib.parse import quote

from msgspec import Meta, Struct

from services.ledger.workflow import ExtractorSettings
from services.workers.modules.pages import extract_faults, in_order, read_page
from services.workers.modules.protocol import Item, Limits, Outcome, Tools
from services.workers.providers.answers import web_url

Word = Annotated[str, Meta(max_length=500)]
MAX_ITEMS = 1_000_000


class ScrapParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a `scrap` job takes; `{query}` and `{zone}` in the template are replaced, percent-encoded."""

    queries: Annotated[tuple[Word, ...], Meta(min_length=1, max_length=100_000)]
    zones: Annotated[tuple[Word, ...], Meta(min_length=1, max_length=10_000)] = ("",)
    url_template: Annotated[str, Meta(min_length=1, max_length=4_000)]
    extract: ExtractorSettings


class Scrap:
    """Queries by zones."""

    name = "scrap"
    params = ScrapParams
    limits = Limits(max_items=MAX_ITEMS)
    item_credits = 1

    def faults(self, params: ScrapParams) -> list[str]:
        """Return what is wrong with params."""
        return [*_faults(params), *extract_faults(params.extract)]

    async def plan(self, params: ScrapParams, tools: Tools) -> AsyncIterator[Mapping[str, Any]]:
        """Yield every query of the first zone, then of the next."""
        for zone, query in product(params.zones, params.queries):
            yield {"query": query, "zone": zone}

    def run(self, params: ScrapParams, items: Sequence[Item], tools: Tools) -> AsyncGenerator[Outcome]:
        """Read one page for each."""

        async def work(item: Item) -> Outcome:
            beside = {"query": item.value["query"], "zone": item.value["zone"]}
            return await read_page(item, _url(params.url_template, beside), params.extract, tools, beside)

        return in_order(items, work)


def _url(template: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", quote(value, safe=""))
    return template


def _faults(params: ScrapParams) -> list[str]:
    found = []
    if "{query}" not in params.url_template:
        found.append("url_template: put {query} where the query belongs")
    if "{zone}" not in params.url_template and len(params.zones) > 1:
        found.append("url_template: put {zone} where the zone belongs, or give one zone")
    for name, given in (("queries", params.queries), ("zones", params.zones)):
        if len(set(given)) < len(given):
            found.append(f"{name}: one stands there twice; give each once")
    if len(params.queries) * len(params.zones) > MAX_ITEMS:
        found.append(f"queries and zones: at most {MAX_ITEMS} of one in the other; split them into several jobs")
    try:
        web_url(_url(params.url_template, {"query": "q", "zone": "z"}))
    except ValueError as error:
        found.append(f"url_template: {error}")
    return found
