"""What a hostile page may cost: judged and read in a process with limits of CPU time and memory."""

import resource
import subprocess
import sys

import pytest

CPU_SECONDS, MEMORY_BYTES = 8, 1 << 30
RUN = """
import sys
from services.ledger.workflow import ExtractorSettings, Field, GateRules
from services.workers.extract.extractor import extract
from services.workers.gate.judge import Page, judge
page = sys.stdin.buffer.read()
judge(Page(200, "text/html", page), GateRules(required_selector="h7"))
extract(page.decode(), "http://a.example/", ExtractorSettings(fields=(Field(name="title", query="h1"),)))
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


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_takes_bounded_time_and_memory(name: str) -> None:
    page = f"<html><body>{HOSTILE[name]}".encode()
    done = subprocess.run([sys.executable, "-c", RUN], input=page, preexec_fn=_limit, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
