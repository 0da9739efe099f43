"""The bar of the gate: real saved pages that are not part of this project."""

import csv
import os
import time
from pathlib import Path

import pytest

from services.workers.gate.judge import Page, judge

CORPUS = Path(os.environ.get("JOBLEDGER_PAGES") or Path(__file__).parents[4] / "shared" / "corpora" / "pages")
NEEDED = 24  # of the bad pages, by the right rule
MEDIAN_MS = 20.0  # of CPU time for a page of 100 KB; loose, for machines that are busy: `python -m bench.gate` measures

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


def test_a_page_is_judged_in_milliseconds() -> None:
    paces = []
    for _name, _label, page in pages():
        if len(page.body) > 60_000:
            started = time.thread_time()
            judge(page)
            paces.append((time.thread_time() - started) * 1000 * 100_000 / len(page.body))
    assert sorted(paces)[len(paces) // 2] < MEDIAN_MS
