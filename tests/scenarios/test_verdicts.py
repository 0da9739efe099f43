"""Scenarios 50, 52 and 80 in a worker: walls and empty successes are no results, what no store takes is replaced.

52 is about a spider that exits with 0 and has done nothing. A job of this vocabulary has such a lie too: a provider
that answers 200, and says within what went wrong, or nothing at all.
"""

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from services.ledger.reports import Extracted, Failed
from services.workers.extract.extractor import MAX_ITEMS
from services.workers.extraction import Document
from services.workers.providers.decodo import Decodo
from services.workers.providers.dialect import Answer
from services.workers.providers.oxylabs import Oxylabs
from services.workers.providers.protocol import FetchRequest, FetchResult
from services.workers.providers.zyte import Zyte
from tests.unit.workers.fakes import page, service, workflow
from tests.unit.workers.test_attempt import Run

CHALLENGE = "<html><head><title>Just a moment...</title></head><body><h1>Verify you are human</h1>{}</body></html>"
WALLS = {
    "challenge of 150 bytes": (CHALLENGE.format(""), "captcha"),
    "challenge of 3 KB": (CHALLENGE.format(f"<style>{'a{b:c}' * 480}</style>"), "captcha"),
    "challenge of 60 KB": (CHALLENGE.format(f"<script>{'var a=1;' * 7500}</script>"), "captcha"),
    "soft 404": (
        "<html><title>Shop</title><h1>Oops</h1><p>The page you asked for was not found.</p></html>",
        "soft_404",
    ),
    "empty": ("", "empty_body"),
    "white space": (" \r\n\t ", "empty_body"),
}


@pytest.mark.parametrize("name", WALLS)
async def test_50_a_wall_with_status_200_takes_the_fail_edge_and_is_no_result(name: str) -> None:
    body, rule = WALLS[name]
    run = await Run(workflow(service("a"), service("b")), page(body.encode()), page(body.encode())).go()
    assert run.path()[1:3] == [("a", "refused", "fail", "b"), ("b", "refused", "fail", "bad")]
    assert [node.rule for node in run.nodes if node.provider] == [rule, rule]
    assert isinstance(run.outcome, Failed)
    assert (run.outcome.error_type, run.outcome.rule) == ("validation_failed", rule)
    assert not any("page-" in key or "extraction" in key for key in run.blobs.blobs)


async def test_50_an_extraction_without_a_value_is_no_result_and_says_why() -> None:
    fields: list[dict[str, Any]] = [{"name": "x", "query": ".none"}]
    run = await Run(workflow(fields=fields), page()).go()
    assert isinstance(run.outcome, Failed)
    assert (run.outcome.error_type, run.outcome.rule) == ("validation_failed", "empty_result")


async def test_80_what_no_store_takes_is_replaced_and_counted_and_the_six_characters_stay() -> None:
    thing = {"@type": "Product", "name": "a\0b", "sku": "\\u0000", "offers": {"\ud800": "\ud800"}}
    body = f'<script type="application/ld+json">{json.dumps(thing)}</script><h1>x\0y \\u0000</h1>' + "<p>word</p>" * 80
    fields = [
        {"name": "name", "selector": "jsonld", "query": "Product.name"},
        {"name": "sku", "selector": "jsonld", "query": "Product.sku"},
        {"name": "offers", "selector": "jsonld", "query": "Product.offers", "type": "object"},
        {"name": "title", "query": "h1"},
    ]
    run = await Run(workflow(fields=fields), page(body.encode())).go()
    assert isinstance(run.outcome, Extracted)
    data = run.blobs.blobs[run.outcome.extraction_ref]
    assert b"\\u0000" not in data.replace(b"\\\\u0000", b"")
    document = msgspec.json.decode(data, type=Document)
    assert document.normalized == {
        "name": "a\ufffdb",
        "sku": "\\u0000",
        "offers": {"\ufffd": "\ufffd"},
        "title": "x\ufffdy \\u0000",
    }
    assert document.replaced_characters == 4


ASKED = FetchRequest("https://shop.example/p/1")
SAYS_NOTHING: dict[str, tuple[Oxylabs | Decodo | Zyte, object]] = {
    "an error in place of results": (Oxylabs(), {"message": "Provided parameters are not valid"}),
    "a job that faulted": (Oxylabs(), {"results": [{"content": "", "status_code": 613, "url": ASKED.url}]}),
    "no results": (Decodo(), {"results": []}),
    "no body": (Zyte(), {"url": ASKED.url, "statusCode": 200}),
    "a body that is no base64": (Zyte(), {"url": ASKED.url, "statusCode": 200, "httpResponseBody": "not base64!"}),
}


def said(provider: Oxylabs | Decodo | Zyte, body: object) -> FetchResult:
    """Read what a provider answers with 200."""
    return provider.read(Answer(200, {}, msgspec.json.encode(body), ASKED, datetime.now(UTC)))


@pytest.mark.parametrize("name", SAYS_NOTHING)
async def test_52_a_provider_that_answers_200_and_has_done_nothing_is_no_success(name: str) -> None:
    answer = said(*SAYS_NOTHING[name])
    run = await Run(workflow(service("a", retries=1)), answer).go()
    assert isinstance(run.outcome, Failed)
    assert run.outcome.error_type in ("providers_exhausted", "validation_failed")
    assert [(node.node_id, node.edge, bool(node.error_type or node.rule)) for node in run.nodes if node.provider] == [
        ("a", "fail", True)
    ]


async def test_52_a_page_with_more_items_than_are_read_is_finished_with_as_many_as_are() -> None:
    body = "<html><body>" + "<li>A lamp of brass</li>" * (MAX_ITEMS + 1) + "</body></html>"
    document = json.loads(workflow())
    [reads] = [node for node in document["nodes"] if node["kind"] == "extractor"]
    reads["settings"] = {"items": {"query": "li"}, "fields": [{"name": "name", "selector": "xpath", "query": "text()"}]}
    run = await Run(json.dumps(document).encode(), page(body.encode())).go()
    assert isinstance(run.outcome, Extracted)
    assert run.outcome.items == MAX_ITEMS
    told = msgspec.json.decode(run.blobs.blobs[run.outcome.extraction_ref], type=Document).problems
    assert [problem.code for problem in told] == ["too_many_items"]
