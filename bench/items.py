"""What the item path of one job carries: `python -m bench.items`, in items a second and in CPU time.

A module that yields a result at once for each planned item runs as an attempt does: its outcomes are encoded, counted
and packed into chunks, which are put into a blob store in a directory and told to a decider; the decider records them
and encodes its events. No broker and no network. Beside it the floor, in turn, round by round: the same rows as JSON
lines, packed and written, and nothing else.
"""

import argparse
import asyncio
import contextlib
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bench.live_jobs import NUMBERS, START
from bench.machine import machine_facts
from schemas.codec import Encoder
from schemas.private import private_bytes
from schemas.values import Vocabulary
from services.decider.batch import BatchDecider
from services.ledger.commands import ClaimTask, NewJob, RegisterOrg, ReportProgress, SubmitJobs
from services.ledger.policy import Policy
from services.ledger.replies import Granted
from services.ledger.state import Ledger
from services.ledger.status import Status
from services.runtime.blob import BlobStore
from services.runtime.item_chunks import packed_lines
from services.workers.modules.attempt import attempts
from services.workers.modules.protocol import Item, Limits, Outcome, Tools
from services.workers.modules.recorder import CHUNK_ITEMS
from services.workers.modules.tools import OtherItems
from services.workers.providers.protocol import Provider
from services.workers.steps import Tools as StepTools

RESULTS = Path(__file__).parent / "results" / "items.json"
BAR = 10_000  # items a second
ORG, JOB, BOOT, MODULE = "org", "job", "boot", "given"


class Round(Struct, frozen=True):
    """The path and its floor, one behind the other."""

    items_per_second: float
    cpu_us_per_item: float
    floor_items_per_second: float
    floor_cpu_us_per_item: float
    times_floor: float  # CPU time of the path by that of the floor


class Figures(Struct, frozen=True):
    """One run: medians over the rounds."""

    command: str
    machine: dict[str, str | int | float]
    items: int
    row_bytes: int
    bar_items_per_second: int
    median: Round
    rounds: list[Round]


class GivenParams(Struct, frozen=True):
    """How many items a job has."""

    items: int


class Given:
    """Yields one result for each item, without any work."""

    name = MODULE
    params = GivenParams
    limits = Limits(max_items=10_000_000)
    item_credits = 1

    def faults(self, params: GivenParams) -> list[str]:
        """Find nothing wrong."""
        return []

    async def plan(self, params: GivenParams, tools: Tools) -> AsyncIterator[Mapping[str, Any]]:
        """Yield queries, a hundred of them in each zone."""
        for number in range(params.items):
            yield {"query": f"query {number % 100}", "zone": f"zone {number // 100 % 100}"}

    async def run(self, params: GivenParams, items: Sequence[Item], tools: Tools) -> AsyncGenerator[Outcome]:
        """Yield outcomes."""
        for item in items:
            yield Outcome(item.number, rows=[row(item.number)])


class Nothing:
    """Neither providers nor results of other jobs: the module asks for none."""

    def provider(self, name: str) -> Provider:
        """Have none."""
        raise KeyError(name)

    def of(self, org_id: str, job_id: str) -> AsyncIterator[bytes]:
        """Have none."""
        raise KeyError(job_id)


def row(number: int) -> dict[str, Any]:
    """Return a result as a page of a list gives it."""
    return {
        "url": f"https://shop.example/p/{number}",
        "name": f"Lamp number {number} of brass and glass",
        "price": 12.5 + number % 1000,
        "currency": "EUR",
        "in_stock": number % 3 > 0,
        "query": f"query {number % 100}",
    }


async def path(items: int, directory: Path) -> None:
    """Carry a job through."""
    decider = BatchDecider(Ledger(0, Policy()), Encoder(NUMBERS))
    store = BlobStore(directory.as_uri())
    common: dict[str, Any] = {"command_id": "c", "org_id": ORG, "requester": "me"}
    decider.command(RegisterOrg(**common, name=ORG, max_in_flight=5), 0, START, [])
    new = NewJob(job_id=JOB, private=private_bytes({"input": {"items": items}}))
    submit = SubmitJobs(**common, jobs=(new,), vocabulary=Vocabulary.MODULE, workflow_id=MODULE, max_run_seconds=86_400)
    decider.command(submit, 1, START, [])
    [task] = decider.take().tasks
    decider.command(ClaimTask(**common, job_id=JOB, dispatch=task.dispatch, worker_id="w", boot_id=BOOT), 2, START, [])
    granted = decider.take().replies[-1].body
    assert isinstance(granted, Granted)
    others: OtherItems = Nothing()
    working = attempts(StepTools(Nothing(), store), others, {MODULE: Given()}, task, granted)
    async with contextlib.aclosing(working) as reports:
        offset = 3
        async for report in reports:
            told = ReportProgress(
                **common,
                job_id=JOB,
                attempt=granted.attempt,
                worker_id="w",
                boot_id=BOOT,
                items=report.items,
                outcome=report.outcome,
            )
            decider.command(told, offset, START, [])
            decider.take()
            offset += 1
    job = decider.ledger.jobs[JOB]
    assert job.status is Status.COMPLETED
    assert job.items is not None
    assert (job.items.next_item, job.items.rows, job.items.errors) == (items, items, 0)


async def floor(items: int, directory: Path) -> None:
    """Write the same rows."""
    encode = msgspec.json.Encoder().encode
    store = BlobStore(directory.as_uri())
    for first in range(0, items, CHUNK_ITEMS):
        lines = [encode(row(number)) for number in range(first, min(first + CHUNK_ITEMS, items))]
        await store.put(f"{ORG}/{JOB}/1/floor-{first}", packed_lines(lines))


def measured(items: int) -> Round:
    """Measure path and floor once."""
    taken = []
    for work in (path, floor):
        with tempfile.TemporaryDirectory() as directory:
            began, spent = time.perf_counter(), time.process_time()
            asyncio.run(work(items, Path(directory)))
            taken.append((time.perf_counter() - began, time.process_time() - spent))
    (seconds, cpu), (floor_seconds, floor_cpu) = taken
    return Round(
        round(items / seconds, 1),
        round(cpu / items * 1e6, 2),
        round(items / floor_seconds, 1),
        round(floor_cpu / items * 1e6, 2),
        round(cpu / floor_cpu, 2),
    )


def main() -> int:
    """Measure, print, and write the figures down where asked to; 1: below the bar."""
    options = argparse.ArgumentParser(prog="python -m bench.items", description=__doc__.partition("\n")[0])
    options.add_argument("--items", type=int, default=200_000, help="of the job (200000)")
    options.add_argument("--rounds", type=int, default=3, help="(3)")
    options.add_argument(
        "--write", action="store_true", help=f"renew {RESULTS.name}: on a machine that does nothing else"
    )
    given = options.parse_args()
    rounds = []
    for number in range(given.rounds):
        rounds.append(measured(given.items))
        sys.stdout.write(f"round {number + 1} of {given.rounds}: {msgspec.json.encode(rounds[-1]).decode()}\n")
    median = Round(*(statistics.median(getattr(each, name) for each in rounds) for name in Round.__struct_fields__))
    command = f"python -m bench.items --items {given.items}"
    row_bytes = len(msgspec.json.encode(row(given.items)))
    figures = Figures(command, machine_facts(), given.items, row_bytes, BAR, median, rounds)
    if given.write:
        RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=2) + b"\n")
    sys.stdout.write(f"{median.items_per_second:,.0f} items/s of {BAR:,} that are asked for\n")
    return int(median.items_per_second < BAR)


if __name__ == "__main__":
    sys.exit(main())
