"""The figures of the gate that the documentation shows are those that were measured, and the hold-out forgets."""

import msgspec
import pytest

from bench import gate
from services.workers.gate.judge import KNOWLEDGE
from services.workers.gate.verdict import Page

HEAD = "<!doctype html><html><head><title>Shop</title></head><body>"


def page(name: str, label: str, body: str) -> gate.Labelled:
    return gate.Labelled(name, label, Page(200, "text/html", f"{HEAD}{body}</body></html>".encode()))


ALONE = page("alone", "soft_404", "<p>sayfa bulunamad\u0131</p>")
TOGETHER = [page(f"together-{number}", "captcha", "<p>Please verify you are human.</p>") for number in range(2)]


def test_what_only_one_fold_taught_is_forgotten_and_what_two_taught_is_not() -> None:
    right, forgotten = gate.held_out([ALONE, *TOGETHER])
    assert ALONE.is_right(KNOWLEDGE)
    assert right == {"alone": False, "together-0": True, "together-1": True}
    assert sum(forgotten) > 0


def test_the_documentation_shows_the_figures_that_were_measured() -> None:
    report = msgspec.json.decode(gate.RESULTS.read_bytes(), type=gate.Report)
    document = gate.DOC.read_text(encoding="utf-8")
    assert document == gate.with_figures(document, report)


@pytest.mark.skipif(not (gate.PAGES / "labels.csv").exists(), reason="no corpus of pages: set JOBLEDGER_PAGES")
def test_the_hold_out_is_as_good_as_it_was_measured() -> None:
    pages = gate.labelled(gate.PAGES)
    right, _ = gate.held_out(pages)
    measured = msgspec.json.decode(gate.RESULTS.read_bytes(), type=gate.Report)
    if len(pages) == sum(row.pages for row in measured.rows):
        assert sum(right.values()) >= sum(row.held_out for row in measured.rows)
