"""What a hostile page may cost: judged and read in a process with limits of CPU time and memory."""

from tests.unit.hostile import told_within

CPU_SECONDS, MEMORY_BYTES = 8, 1 << 30  # for all of them; one that is not bounded takes minutes
RUN = """
import json, sys
from services.ledger.workflow import ExtractorSettings, Field, GateRules
from services.workers.extract.extractor import extract
from services.workers.gate.judge import Page, judge
asked, fields = GateRules(required_selector="h7"), (Field(name="title", query="h1"),)
for name, page in json.load(sys.stdin).items():
    judge(Page(200, "text/html", page.encode()), asked)
    extract(page, "http://a.example/", ExtractorSettings(fields=fields))
    print(json.dumps([name, None]), flush=True)
"""
OPEN_TAGS = "".join(f"<b a={number}>" for number in range(400))
HOSTILE = {
    "nested without end": "<div>" * 200_000,
    "lists nested without end": "<ul><li>" * 100_000,
    "formatting left open, for each paragraph": f"<p>{OPEN_TAGS}" + "<p>x" * 20_000,
    "formatting that seems to be closed at once": "".join(
        f"<b a={number}><table><td></b></td></table>" for number in range(1500)
    )
    + "<p>x" * 20_000,
    "cookies set again and again": "<script>" + "document.cookie=1;" * 100_000,
    "headings without end": "<h1>x" * 100_000,
    "attributes without end": "<p>x<script " + " ".join(f"a{number}" for number in range(200_000)) + ">",
}


def test_hostile_pages_take_bounded_time_and_memory() -> None:
    pages = {name: f"<html><body>{page}" for name, page in HOSTILE.items()}
    told_within(RUN, pages, cpu_seconds=CPU_SECONDS, memory_bytes=MEMORY_BYTES)
