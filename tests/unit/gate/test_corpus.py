"""The bar of the gate: real saved pages that are not part of this project."""

import csv
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lxml.html
import pytest

from services.workers.gate.judge import Page, judge

CORPUS = Path(os.environ.get("JOBLEDGER_PAGES") or Path(__file__).parents[4] / "shared" / "corpora" / "pages")
NEEDED = 24  # of the bad pages, by the right rule
PARSED = 3.0  # times that a page could be parsed meanwhile; 1.4 it is. `python -m bench.gate` measures milliseconds
TRIES = 3  # the least of these: what others do to the caches of a busy machine is not the gate's

pytestmark = pytest.mark.skipif(
    not (CORPUS / "labels.csv").exists(), reason="no corpus of pages: set JOBLEDGER_PAGES to its directory"
)


def pages() -> list[tuple[str, str, Page]]:
    with (CORPUS / "labels.csv").open(encoding="utf-8", newline="") as labels:
        return [
            (row["file"], row["label"], Page(200, row["content_type"], (CORPUS / row["file"]).read_bytes()))
            for row in csv.DictReader(labels)
        ]


def test_no_good_page_is_refused() -> None:
    refused = {name: verdict for name, label, page in pages() if label == "good" and (verdict := judge(page))}
    assert refused == {}


def test_bad_pages_are_refused_by_the_right_rule() -> None:
    verdicts = {name: (label, judge(page)) for name, label, page in pages() if label != "good"}
    wrong = {name: pair for name, pair in verdicts.items() if pair[1] is None or pair[1].rule != pair[0]}
    assert len(verdicts) - len(wrong) >= min(NEEDED, len(verdicts)), wrong


def test_a_verdict_on_a_large_page_costs_little_more_than_parsing_it() -> None:
    large = [page for _name, _label, page in pages() if len(page.body) > 60_000]
    shares = []
    for page in large:
        tries = [(cost(judge, page), cost(lxml.html.document_fromstring, page.body)) for _ in range(TRIES)]
        judging, parsing = map(min, zip(*tries, strict=True))
        shares.append(judging / parsing)
    assert sorted(shares)[len(shares) // 2] < PARSED, shares


def cost(work: Callable[[Any], object], of: object) -> float:
    """Return the CPU time that some work takes."""
    started = time.thread_time()
    work(of)
    return time.thread_time() - started
