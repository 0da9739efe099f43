"""Selectors that would take for hours: each is ended in time, its field is named, and others are read meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest

from services.ledger.workflow import (
    ExtractorNode,
    ExtractorSettings,
    Field,
    GateRules,
    ItemsSelector,
    Part,
    WorkflowInvalid,
)
from services.workers import extraction
from services.workers.apart import Apart
from services.workers.carried import Body, Carried
from services.workers.extract.effort import degree, is_slow, slow_fields
from services.workers.extract.selectors import selector_fault
from services.workers.gate.judge import Page, judge_and_tell
from services.workers.job import job_of
from services.workers.readers import Readers, SelectorTooHard
from services.workers.steps import Tools, visit
from services.workers.walk import Errored
from tests.unit.workers.fakes import GOOD, MemoryBlobs, OneProvider, ScriptedProvider, granted, task

CPU_SECONDS = 0.2
SIX_NESTED = "//*[count(" * 6 + "//*" + ") > 1]" * 6
SIBLINGS = " ~ ".join("p" * 8)
WIDE = b"<html><body>" + b"<p>a</p>" * 5_000
DEEP_JSON = b'{"a":' * 80 + b"1" + b"}" * 80
HARD = {
    "xpath": (Field(name="hard", selector="xpath", query=SIX_NESTED), WIDE),
    "xpath that compares": (Field(name="hard", selector="xpath", query="//p[//p = //p[. = 'b']]"), WIDE),
    "css": (Field(name="hard", query=SIBLINGS), WIDE),
    "jsonpath that filters": (
        Field(name="hard", selector="jsonpath", query="$..[?count(@..[?count(@..[?count(@..*) > 900]) > 1]) > 1]"),
        DEEP_JSON,
    ),
    "jsonpath that finds all twice": (
        Field(name="hard", selector="jsonpath", query="$" + "[*, *]" * 190 + "[*].b"),
        DEEP_JSON,
    ),
}
EASY = Field(name="easy", query="p")


@pytest.fixture
async def readers() -> AsyncIterator[Readers]:
    readers = Readers(apart=Apart(CPU_SECONDS))
    yield readers
    readers.close()


def body(data: bytes) -> Body:
    kind = "application/json" if data[:1] == b"{" else "text/html; charset=utf-8"
    return Body("ref", kind, data, "http://shop.example/")


async def read(readers: Readers, page: bytes, settings: ExtractorSettings) -> str:
    tools = Tools(OneProvider(ScriptedProvider()), MemoryBlobs(), readers)
    job = job_of(task(), granted())
    seen = await visit(tools, job, ExtractorNode(id="x", settings=settings), 1, Carried(body(page)))
    assert isinstance(seen.outcome, Errored)
    assert seen.outcome.error_type == "selector_too_hard"
    return seen.outcome.message


@pytest.mark.parametrize("kind", HARD)
async def test_a_selector_that_would_take_for_hours_fails_its_node_and_names_its_field(
    kind: str, readers: Readers
) -> None:
    field, page = HARD[kind]
    assert selector_fault(field.selector, field.query) is None
    message = await read(readers, page, ExtractorSettings(fields=(EASY, field)))
    assert message.startswith("the selector of 'hard' takes more than 0.2 s")
    assert not readers.stuck.done()  # no thread is lost: the worker goes on


async def test_so_do_those_of_items_and_of_parts(readers: Readers) -> None:
    items = ExtractorSettings(items=ItemsSelector(query=SIBLINGS), fields=(EASY,))
    assert "the selector of 'items'" in await read(readers, WIDE, items)
    part = Field(name="all", query="body", type="object", fields=(Part(name="inner", query=SIBLINGS),))
    assert "the selector of 'all.inner'" in await read(readers, WIDE, ExtractorSettings(fields=(part,)))


async def test_so_does_the_selector_that_a_page_has_to_have(readers: Readers) -> None:
    rules = GateRules(required_selector=SIBLINGS)
    page = Page(200, "text/html", GOOD.replace(b"</body>", b"<p>a</p>" * 5_000), "http://shop.example/")
    assert is_slow("css", rules.required_selector, page.body)
    with pytest.raises(SelectorTooHard, match="the selector of 'requiredSelector'"):
        await readers.read_apart(partial(judge_and_tell, page, rules))


async def test_other_pages_are_read_while_a_hard_one_is(readers: Readers) -> None:
    field, page = HARD["xpath"]
    hard = asyncio.create_task(read(readers, page, ExtractorSettings(fields=(field,))))
    settings = ExtractorSettings(fields=(EASY,))
    others = [readers.read_apart(partial(extraction.read_page, body(b"<p>b</p>"), settings)) for _ in range(3)]
    for document in await asyncio.gather(*others):
        assert isinstance(document, extraction.Document)
        assert document.normalized == {"easy": "b"}
    assert not hard.done()
    await hard


async def test_what_is_read_apart_is_what_is_read_here_and_so_are_errors(readers: Readers) -> None:
    page = body(b"<dl><dt>Price</dt><dd>7</dd></dl>" * 300)
    query = "//dt[.='Price']/following-sibling::dd[1]"
    settings = ExtractorSettings(fields=(Field(name="price", selector="xpath", query=query, type="number"),))
    assert slow_fields(settings, page.data) == ["price"]
    for _ in range(2):  # by a new process, and by one that waits
        there = await readers.read_apart(partial(extraction.read_page, page, settings))
        assert there == extraction.read_page(page, settings)
    broken = ExtractorSettings(fields=(Field(name="price", selector="xpath", query="//dt[count(1)]"),))
    with pytest.raises(WorkflowInvalid, match="count") as raised:
        await readers.read_apart(partial(extraction.read_page, page, broken))
    assert raised.value.faults[0].code == "bad_selector"


@pytest.mark.parametrize(
    ("kind", "query", "power"),
    [
        ("css", "a.x[href]", 1),
        ("css", "div p a", 2),
        ("css", "h1 + p ~ a", 3),
        ("css", "li:nth-child(2)", 2),
        ("xpath", "a/b[@x='//']", 1),
        ("xpath", ".//a", 1),
        ("xpath", "//a/descendant::b", 2),
        ("xpath", "//dt[.='P']/following-sibling::dd[1]", 3),
        ("xpath", "//h1[a and ./following-sibling::b]", 2),
        ("xpath", "//*[//a = //b]", 3),
        ("xpath", "//a | //b", 2),
        ("xpath", SIX_NESTED, 7),
        ("jsonpath", "$.a['x..y']", 1),
        ("jsonpath", "$..a..b", 2),
        ("jsonpath", "$..[?count(@..*) > 1]", 2),
        ("regex", "(a+)+b", 1),
    ],
)
def test_how_often_a_selector_may_look_at_a_page_is_told_from_its_text(kind: str, query: str, power: int) -> None:
    assert degree(kind, query) == power


def test_everyday_selectors_are_read_where_they_always_were() -> None:
    fields = (
        EASY,
        Field(name="links", query="main ul li a", type="list"),
        Field(name="name", selector="jsonld", query="name"),
    )
    settings = ExtractorSettings(items=ItemsSelector(query=".product"), fields=fields)
    assert slow_fields(settings, WIDE[:40_000]) == []
