"""What the runner of spiders adds to `scrapy crawl`, and how soon items can be read: `python -m bench.spiders`.

The same project scrapes the same site, which is a process of its own, in turn, round by round: by `scrapy crawl`, which
forgets its items; by `scrapy crawl -O items.jsonl`, which keeps them; and by the runner as a worker has it, from the
archive to the last report, with items, log and statistics in a blob store in a directory. CPU time is that of all
processes of a run, the worker's too. No ledger: an item is `stored` when its chunk is, and a report tells of it.
"""

import argparse
import asyncio
import io
import os
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bench.machine import machine_facts
from bench.spiders_site import ITEMS_A_PAGE
from schemas.private import private_bytes
from schemas.values import Vocabulary
from services.cli.spans import percentile
from services.ledger.replies import Granted
from services.ledger.reports import Chunk, Extracted
from services.ledger.tasks import Resume, Task
from services.runtime.blob import BlobStore
from services.runtime.item_chunks import rows_part
from services.runtime.networks import networks_of
from services.workers.spiders.apart import network_apart
from services.workers.spiders.attempt import attempts
from services.workers.spiders.local import LocalRunner
from tests.spiders.runs import NoEnvironments

RESULTS = Path(__file__).parent / "results" / "spiders.json"
BAR_PERCENT = 10.0  # of CPU that the runner may add
BAR_SECONDS = 2.0  # from scraped until stored
SPIDER = "shop"
PROJECT = {
    "scrapy.cfg": "[settings]\ndefault = shop.settings\n",
    "shop/__init__.py": "",
    "shop/settings.py": (
        'BOT_NAME = "shop"\nSPIDER_MODULES = ["shop.spiders"]\nROBOTSTXT_OBEY = False\nTELNETCONSOLE_ENABLED = False\n'
        'LOG_LEVEL = "INFO"\nCONCURRENT_REQUESTS_PER_DOMAIN = 16\nDOWNLOAD_DELAY = 0\n'
    ),
    "shop/spiders/__init__.py": "",
    "shop/spiders/shop.py": """\
import time

import scrapy


class Shop(scrapy.Spider):
    name = "shop"

    async def start(self):
        for number in range(int(self.pages)):
            yield scrapy.Request(f"{self.site}/list/{number}")

    def parse(self, response):
        for row in response.css("li"):
            yield {
                "url": response.urljoin(row.css("a::attr(href)").get()),
                "name": row.css("a::text").get(),
                "price": float(row.css("b::text").get()),
                "at": time.monotonic(),
            }
""",
}


class Round(Struct, frozen=True):
    """The three ways, one behind the other."""

    plain_cpu_seconds: float  # scrapy crawl
    kept_cpu_seconds: float  # scrapy crawl -O items.jsonl
    runner_cpu_seconds: float
    worker_cpu_seconds: float  # of the runner's, that of the worker
    overhead_percent: float  # of the runner over plain
    overhead_over_kept_percent: float
    stored_p50_ms: float  # from scraped until stored
    stored_max_ms: float


class Figures(Struct, frozen=True):
    """One run: medians over the rounds."""

    command: str
    machine: dict[str, str | int | float]
    items: int
    network_apart: str
    bar_overhead_percent: float
    bar_stored_seconds: float
    median: Round
    rounds: list[Round]


def archive() -> bytes:
    """Return the project as it is uploaded."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for name, text in PROJECT.items():
            entry = tarfile.TarInfo(f"shop/{name}")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    return file.getvalue()


def crawl(folder: Path, site: str, pages: int, *options: str) -> None:
    """Scrape as whoever wrote the project does."""
    for name, text in PROJECT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    arguments = ["crawl", SPIDER, "-a", f"site={site}", "-a", f"pages={pages}", *options]
    with (folder / "log").open("wb") as log:
        subprocess.run([sys.executable, "-m", "scrapy", *arguments], cwd=folder, stderr=log, check=True)


async def run(folder: Path, site: str, pages: int, *, apart: bool) -> list[float]:
    """Scrape as a worker does; return for each item how many seconds after it was scraped it was stored."""
    store = BlobStore((folder / "blobs").as_uri())
    await store.put("archive", archive())
    options = {
        "project": SPIDER,
        "spiders": [SPIDER],
        "deploy_version": 1,
        "spider_args": {"site": site, "pages": str(pages)},
        "cpus": float(os.cpu_count() or 1),
    }
    task = Task(
        org_id="org",
        job_id="job",
        partition=0,
        dispatch=1,
        vocabulary=Vocabulary.SPIDER,
        workflow_ref="archive",
        private=private_bytes({"input": options}),
    )
    runner = LocalRunner(allowed=networks_of("127.0.0.1"), folder=str(folder), apart=apart)
    stored: list[tuple[float, Chunk]] = []
    outcome: object = None
    async for report in attempts(store, NoEnvironments(), runner, task, Granted(attempt=1, resume=Resume())):
        now = time.monotonic()
        stored += [(now, part) for part in report.items if isinstance(part, Chunk)]
        outcome = report.outcome
    if not isinstance(outcome, Extracted) or outcome.items != pages * ITEMS_A_PAGE:
        raise SystemExit(f"the run did not scrape its {pages * ITEMS_A_PAGE} items: {outcome}")
    return [waited async for waited in _waits(store, stored)]


async def _waits(store: BlobStore, stored: list[tuple[float, Chunk]]) -> AsyncIterator[float]:
    for at, chunk in stored:
        for row in rows_part(await store.get(chunk.items_ref), chunk.rows_bytes):
            yield at - msgspec.json.decode(row)["at"]


def spent(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return the CPU seconds of this process and of those that it waited for, and what the work returned."""
    ours, theirs = _cpu(resource.RUSAGE_SELF), _cpu(resource.RUSAGE_CHILDREN)
    result = work()
    return _cpu(resource.RUSAGE_SELF) - ours, _cpu(resource.RUSAGE_CHILDREN) - theirs, result


def _cpu(of: int) -> float:
    used = resource.getrusage(of)
    return used.ru_utime + used.ru_stime


def measured(site: str, pages: int, *, apart: bool) -> Round:
    """Measure each way once."""
    totals = []
    with tempfile.TemporaryDirectory() as directory:
        for number, options in enumerate(((), ("-O", "items.jsonl"))):
            folder = Path(directory) / str(number)
            _, theirs, _ = spent(partial(crawl, folder, site, pages, *options))
            totals.append(theirs)
        ours, theirs, waits = spent(lambda: asyncio.run(run(Path(directory), site, pages, apart=apart)))
    plain, kept = totals
    total = ours + theirs
    return Round(
        round(plain, 3),
        round(kept, 3),
        round(total, 3),
        round(ours, 3),
        round(100 * (total / plain - 1), 1),
        round(100 * (total / kept - 1), 1),
        round(percentile(waits, 0.5) * 1000, 1),
        round(max(waits) * 1000, 1),
    )


def main() -> int:
    """Measure, print, and write the figures down where asked to; 1: beyond a bar."""
    options = argparse.ArgumentParser(prog="python -m bench.spiders", description=__doc__.partition("\n")[0])
    options.add_argument("--items", type=int, default=5_000, help=f"of a run, {ITEMS_A_PAGE} a page (5000)")
    options.add_argument("--rounds", type=int, default=5, help="(5)")
    options.add_argument(
        "--write", action="store_true", help=f"renew {RESULTS.name}: on a machine that does nothing else"
    )
    given = options.parse_args()
    pages = given.items // ITEMS_A_PAGE
    apart = network_apart()
    rounds = []
    site = subprocess.Popen(
        [sys.executable, "-m", "bench.spiders_site"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with site:
        assert site.stdout is not None
        address = site.stdout.readline().strip()
        for number in range(given.rounds):
            rounds.append(measured(address, pages, apart=apart))
            sys.stdout.write(f"round {number + 1} of {given.rounds}: {msgspec.json.encode(rounds[-1]).decode()}\n")
            sys.stdout.flush()
    median = Round(*(statistics.median(getattr(each, name) for each in rounds) for name in Round.__struct_fields__))
    figures = Figures(
        f"python -m bench.spiders --items {given.items} --rounds {given.rounds}",
        machine_facts(),
        pages * ITEMS_A_PAGE,
        "yes" if apart else "no",
        BAR_PERCENT,
        BAR_SECONDS,
        median,
        rounds,
    )
    if given.write:
        RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=2) + b"\n")
    sys.stdout.write(
        f"{median.overhead_percent:+.1f} % CPU of {BAR_PERCENT:g} % that may be;"
        f" stored after {median.stored_max_ms:,.0f} ms at most of {1000 * BAR_SECONDS:,.0f}\n"
    )
    return int(median.overhead_percent > BAR_PERCENT or median.stored_max_ms > 1000 * BAR_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
