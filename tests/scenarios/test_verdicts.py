"""Scenarios 50 and 80 in a worker: walls are no results, and what no store takes is replaced and counted."""

import json
from typing import Any

import msgspec
import pytest

from services.ledger.reports import Extracted, Failed
from services.workers.extraction import Document
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
