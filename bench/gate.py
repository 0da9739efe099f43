"""`python -m bench.gate`: the validation gate on labelled pages, its hold-out, and what a verdict costs.

The pages are not part of the project: JOBLEDGER_PAGES names their directory, with `labels.csv` (file, label,
content_type). The hold-out asks what the gate knows only because it has seen a page: for each of five folds it forgets
every phrase, mark and rule that speaks for no page outside of the fold, and judges the fold's pages again.
"""

import argparse
import csv
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from bench.machine import machine_facts
from services.cli.spans import percentile
from services.workers.gate.judge import KNOWLEDGE, RULES, judge
from services.workers.gate.knowledge import Knowledge, Marks, Phrases, Sentences
from services.workers.gate.reading import Reading, reading_of
from services.workers.gate.text import decoded
from services.workers.gate.verdict import Page

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results" / "gate.json"
DOC = ROOT / "docs" / "validation.md"
BEGIN, END = "<!-- figures: python -m bench.gate -->\n", "<!-- end of figures -->\n"
PAGES = Path(os.environ.get("JOBLEDGER_PAGES") or ROOT.parent / "shared" / "corpora" / "pages")
GOOD = "good"
FOLDS = 5
ROUNDS = 100
FULL_BYTES = 100_000


class Row(msgspec.Struct, frozen=True):
    """The pages of one label."""

    label: str
    pages: int
    right: int  # by all that the gate knows
    held_out: int  # by what it would know without the pages of the fold


class Report(msgspec.Struct, frozen=True):
    """What one run found."""

    machine: dict[str, str | int | float]
    rows: list[Row]
    forgotten: list[int]  # phrases, marks and rules, by fold
    missed_in_hold_out: list[str]
    median_ms: float  # CPU time of a verdict
    worst_ms: float
    worst_per_100_kb_ms: float  # pages of less are taken as they are

    def text(self) -> str:
        """Return the figures as Markdown."""
        lines = ["| label | pages | right | right in the hold-out |", "|---|--:|--:|--:|"]
        lines += [f"| `{row.label}` | {row.pages} | {row.right} | {row.held_out} |" for row in self.rows]
        bad = [row for row in self.rows if row.label != GOOD]
        lines.append(
            f"| all but `{GOOD}` | {sum(row.pages for row in bad)} | {sum(row.right for row in bad)} "
            f"| {sum(row.held_out for row in bad)} |"
        )
        cost = (
            f"\nA verdict takes {self.median_ms:.2f} ms of CPU time at the median of these pages, "
            f"{self.worst_ms:.2f} ms at most, {self.worst_per_100_kb_ms:.2f} ms at most for 100 KB "
            f"(Python {self.machine['python']}, {self.machine['processor']})."
        )
        missed = ", ".join(f"`{name}`" for name in self.missed_in_hold_out) or "none"
        folds = ", ".join(map(str, self.forgotten))
        return "\n".join(
            [*lines, "", f"Forgotten by fold: {folds} entries. Missed in the hold-out: {missed}.", cost, ""]
        )


@dataclass(frozen=True, slots=True)
class Labelled:
    """A page and what it is."""

    name: str
    label: str
    page: Page

    def reading(self) -> Reading:
        """Return the measures that rules see."""
        return reading_of(decoded(self.page.body, self.page.content_type).text.encode("utf-8", "replace"))

    def is_right(self, known: Knowledge) -> bool:
        """Say whether the gate judges it as it is labelled."""
        verdict = judge(self.page, known=known)
        return (verdict.rule if verdict else GOOD) == self.label


def labelled(directory: Path) -> list[Labelled]:
    """Read the corpus."""
    with (directory / "labels.csv").open(encoding="utf-8", newline="") as labels:
        return [
            Labelled(row["file"], row["label"], Page(200, row["content_type"], (directory / row["file"]).read_bytes()))
            for row in csv.DictReader(labels)
        ]


def folds(pages: list[Labelled]) -> list[set[str]]:
    """Deal the pages of each label out in turn, in the order of their names."""
    dealt: list[set[str]] = [set() for _ in range(FOLDS)]
    for number, one in enumerate(sorted(pages, key=lambda one: (one.label, one.name))):
        dealt[number % FOLDS].add(one.name)
    return dealt


def spoken_for(reading: Reading) -> Iterator[tuple[str, str]]:
    """Yield (table, entry) of what the gate knows that is found on a page."""
    places = "\n".join((*reading.title_parts, *reading.headings, reading.text, reading.noscript))
    for name, table in KNOWLEDGE.tables().items():
        match table:
            case Phrases():
                yield from ((name, text) for text in table.texts if text in places)
            case Marks():
                yield from ((name, mark.decode()) for mark in table.marks if mark in reading.head)
            case Sentences():
                yield from ((name, language) for language in table.languages_in(places))


def support(pages: list[Labelled]) -> dict[tuple[str, str], set[str]]:
    """Return by (table, entry), rules as ("", name), the bad pages for whose verdict it speaks."""
    found: dict[tuple[str, str], set[str]] = {}
    for one in pages:
        if one.label == GOOD:
            continue
        reading = one.reading()
        for table, entry in spoken_for(reading):
            found.setdefault((table, entry), set()).add(one.name)
        for name, rule in RULES.items():
            verdict = rule(reading, one.page, KNOWLEDGE)
            if verdict and verdict.rule == one.label:
                found.setdefault(("", name), set()).add(one.name)
    return found


def held_out(pages: list[Labelled]) -> tuple[dict[str, bool], list[int]]:
    """Return by name whether each page is judged right without what only its fold taught, and how much that was."""
    supported = support(pages)
    right, forgotten = {}, []
    for fold in folds(pages):
        only_here = [key for key, names in supported.items() if names <= fold]
        entries: dict[str, set[str]] = {}
        for table, entry in only_here:
            entries.setdefault(table, set()).add(entry)
        known = KNOWLEDGE.without(entries, rules=entries.get("", ()))
        forgotten.append(len(only_here))
        right.update({one.name: one.is_right(known) for one in pages if one.name in fold})
    return right, forgotten


def costs_ms(pages: list[Page]) -> list[float]:
    """Return the CPU time of each verdict, the least of rounds far apart: what others do to caches is not its cost."""
    least = [float("inf")] * len(pages)
    for _ in range(ROUNDS):
        for number, page in enumerate(pages):
            started = time.thread_time()
            judge(page)
            least[number] = min(least[number], time.thread_time() - started)
    return [seconds * 1000 for seconds in least]


def measure(pages: list[Labelled]) -> Report:
    """Judge everything."""
    right, forgotten = held_out(pages)
    labels = Counter(one.label for one in pages)
    costs = list(zip(costs_ms([one.page for one in pages]), (len(one.page.body) for one in pages), strict=True))
    return Report(
        machine=machine_facts(),
        rows=[
            Row(
                label,
                count,
                sum(one.is_right(KNOWLEDGE) for one in pages if one.label == label),
                sum(right[one.name] for one in pages if one.label == label),
            )
            for label, count in sorted(labels.items())
        ],
        forgotten=forgotten,
        missed_in_hold_out=sorted(one.name for one in pages if not right[one.name]),
        median_ms=round(percentile([cost for cost, _ in costs], 0.5), 2),
        worst_ms=round(max(cost for cost, _ in costs), 2),
        worst_per_100_kb_ms=round(max(cost * min(1.0, FULL_BYTES / size) for cost, size in costs), 2),
    )


def main() -> int:
    """Measure, print and, where asked, write the figures down here and in the documentation."""
    parser = argparse.ArgumentParser(prog="python -m bench.gate", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew bench/results/gate.json and docs/validation.md")
    options = parser.parse_args()
    if not (PAGES / "labels.csv").exists():
        print("no pages: set JOBLEDGER_PAGES to their directory", file=sys.stderr)
        return 1
    report = measure(labelled(PAGES))
    print(report.text())
    if options.write:
        RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")
        DOC.write_text(with_figures(DOC.read_text(encoding="utf-8"), report), encoding="utf-8")
    return 0


def with_figures(document: str, report: Report) -> str:
    """Return the document with these figures between its marks."""
    before, _, rest = document.partition(BEGIN)
    return f"{before}{BEGIN}{report.text()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    sys.exit(main())
