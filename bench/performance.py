"""docs/performance.md, from everything in bench/results: `python -m bench.performance [--write]`.

Without `--write` it says whether the page is current, and exits 1 where it is not. Each JSON file there is a section
and each text file a profile; one that nobody described here is shown all the same.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.peers import page as peers
from bench.tables import machine_line, tables

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
INTRODUCTION = """\
# Performance

This page is made from the files in [bench/results](../bench/results) by `python -m bench.performance --write`; nothing
on it is typed by hand. Figures of different sections were taken at different times: only those of one section compare.
The machine is small and shared, so ratios within a run say more than jobs a second."""


@dataclass(frozen=True, slots=True)
class Section:
    """How one result file is introduced, and what draws it."""

    title: str
    about: str
    draw: Callable[[Mapping[str, object]], Iterator[str]] = tables


SECTIONS = {
    "peers": Section("Beside other systems", "`make bench-peers`.", peers.section),
    "latest": Section("The whole stack", "`make bench`: one destination, a page server in a process of its own."),
    "decider": Section(
        "The decider alone", "One partition's decider, and a bare transactional loop that moves the same bytes."
    ),
    "read_models": Section(
        "Read models",
        "`python -m bench.read_models`: both projections catch up with a long log, each part of it beside its floor.",
    ),
    "destinations": Section(
        "Destinations", "What two more destinations and ClickHouse cost ([destinations](destinations.md))."
    ),
    "warehouses": Section(
        "Warehouses", "The bulk-writers against a bare loop with the same rows ([destinations](destinations.md))."
    ),
    "queue": Section("The queue", "CPU of a job in the decider by how many are pending ([queue](queue.md))."),
    "items": Section(
        "Items of a module job", "The item path of one job, beside the same rows written ([modules](modules.md))."
    ),
    "spiders": Section(
        "Spiders", "A run in the worker beside `scrapy crawl` of the same project and site ([spiders](spiders.md))."
    ),
    "restore": Section("Restore", "A decider's start with a million jobs ([snapshots](snapshots.md))."),
    "reads": Section("Reads", "GET of a job at a steady rate, beside a handler that answers a constant."),
    "stream": Section("Following a job", "What viewers cost ([following a job](stream.md))."),
    "webhooks": Section("Webhooks", "Messages at a steady rate ([webhooks](webhooks.md))."),
    "gate": Section("The validation gate", "Judging pages ([validation](validation.md))."),
    "quick": Section("The quick comparison", "`make bench-quick` compares with these ratios."),
}


def page(results: Path = RESULTS) -> str:
    """Return the page; described files come first and in that order, then all others."""
    files = {file.stem: file for file in sorted(results.glob("*.json"))}
    order = [name for name in SECTIONS if name in files] + [name for name in files if name not in SECTIONS]
    parts = [INTRODUCTION, *(part for name in order for part in _section(files[name]))]
    parts += [part for file in sorted(results.glob("*.txt")) for part in _profile(file)]
    return "\n\n".join(parts) + "\n"


def section_of(name: str) -> Section:
    """Return how a result file is shown; one that nobody described has its name for a title."""
    return SECTIONS.get(name) or Section(name.replace("_", " ").capitalize(), "")


def _section(file: Path) -> Iterator[str]:
    figures = json.loads(file.read_bytes())
    section = section_of(file.stem)
    yield f"## {section.title}"
    yield " ".join(part for part in (section.about, machine_line(figures)) if part) or f"From {file.name}."
    yield from section.draw(figures)


def _profile(file: Path) -> Iterator[str]:
    """A profile is kept as text: its first line says what it is of."""
    title, _, rest = file.read_text().partition("\n")
    yield f"## Profile: {title}"
    yield f"```text\n{rest.strip()}\n```"


def main(arguments: list[str]) -> int:
    """Write the page if asked to; otherwise say whether it is current."""
    if "--write" in arguments:
        PAGE.write_text(page())
        return 0
    if PAGE.exists() and PAGE.read_text() == page():
        return 0
    sys.stderr.write(f"docs/{PAGE.name} is not current: run `python -m bench.performance --write`\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
