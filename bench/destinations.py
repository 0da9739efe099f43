"""What two more destinations and the read model in ClickHouse cost: `python -m bench.destinations`.

The core path is a stack whose orgs have one destination, the internal store in Postgres; no process of ClickHouse or of
webhooks runs. The full path has three destinations a job (Postgres, ClickHouse, a webhook) and the projection into
ClickHouse. Each is started, warmed up and measured in turn, several times. CPU time counts for every process of the
stack with broker and stores, from the first submission until every delivery is acknowledged and both read models hold
every event, and TAIL_SECONDS longer, for merges. What the processes use while nothing is asked of them, measured before
it, is taken off: it does not grow with the jobs.
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import psycopg

from api import config_answers
from bench import load
from bench.machine import machine_facts
from bench.pages import PageServer, page_server
from bench.processes import cpu_ms, used
from bench.stack import BenchStack, part_stack
from projections.checkpoints import clickhouse_checkpoints
from projections.lag import head_positions
from projections.migrate import SCHEMA
from services.localstack.services import SERVICES
from services.runtime.ends import committed_end
from services.runtime.registry import decoder
from services.runtime.topics import events

RESULTS = Path(__file__).parent / "results" / "destinations.json"
BEYOND_CORE = ("writers-webhook", "writers-clickhouse", "projections-clickhouse")  # services of the full path only
ORGS = 24
SLOTS = 32
POLL_SECONDS = 0.2
PATIENCE_SECONDS = 120.0
TAIL_SECONDS = 5.0
ACKED = (
    "SELECT count(*)::float8 / count(DISTINCT (org_id, job_id)) "
    f"FROM {SCHEMA}.extraction_deliveries WHERE acked_at IS NOT NULL"
)


class Round(msgspec.Struct, frozen=True):
    """One measured burst."""

    seconds: float
    acks_per_job: float
    cpu_ms_per_job: dict[str, float]  # by process, without what they use when idle
    idle_ms_per_second: dict[str, float]

    @property
    def total(self) -> float:
        """CPU time of the whole stack for one job."""
        return sum(self.cpu_ms_per_job.values())


class Cost(msgspec.Struct, frozen=True):
    """What one of the two paths costs, in CPU-ms a job."""

    median: float
    least: float
    most: float
    by_process: dict[str, float]  # medians
    idle_ms_per_second: float  # of all its processes
    rounds: list[Round]


class Figures(msgspec.Struct, frozen=True):
    """What was measured."""

    machine: dict[str, str | int | float]
    broker: str
    jobs: int  # of each round
    core: Cost
    full: Cost
    more_percent: float  # by how much the full path costs more, by the medians


def main() -> None:
    """Measure, print, and write the figures down."""
    options = argparse.ArgumentParser(prog="python -m bench.destinations", description=__doc__.partition("\n")[0])
    options.add_argument("--jobs", type=int, default=2000, help="of each round (2000)")
    options.add_argument("--warm-up", type=int, default=1000, help="jobs before each round (1000)")
    options.add_argument("--idle", type=float, default=10.0, help="seconds that idle processes are watched (10)")
    options.add_argument("--rounds", type=int, default=3, help="of each path (3)")
    options.add_argument("--output", type=Path, default=RESULTS, help="where to write the figures")
    given = options.parse_args()
    rounds: dict[bool, list[Round]] = {False: [], True: []}
    broker = ""
    with page_server() as pages:
        for number in range(given.rounds):
            for full in rounds:
                _tell(f"round {number + 1} of {given.rounds}, {'full' if full else 'core'}")
                services = [each for each in SERVICES if full or each.name not in BEYOND_CORE]
                with part_stack(SLOTS, services, full, lambda _step: None) as stack:
                    broker = stack.broker
                    measured = asyncio.run(burst(stack, pages, full, given.jobs, given.warm_up, given.idle))
                _tell(f"  {measured.total:.2f} CPU-ms a job, {measured.acks_per_job:.2f} ACKs a job")
                rounds[full].append(measured)
    core, complete = cost_of(rounds[False]), cost_of(rounds[True])
    more = round((complete.median / core.median - 1) * 100, 1)
    figures = Figures(machine_facts(), broker, given.jobs, core, complete, more)
    given.output.write_bytes(msgspec.json.format(msgspec.json.encode(figures), indent=2) + b"\n")
    show(figures)


async def burst(stack: BenchStack, pages: PageServer, full: bool, jobs: int, warm_up: int, idle: float) -> Round:
    """Measure one burst on a stack that has just been started."""
    async with load.callers(stack.base_url, stack.operator_key, pages.base_url, ORGS) as callers:
        for caller in callers if full else ():
            await add_destinations(caller, f"{pages.base_url}/hook")
        await load.ended(await load.all_at_once(callers, warm_up))
        await _settled(stack, full)

        began, before = time.monotonic(), cpu_ms(stack.processes)
        await asyncio.sleep(idle)
        each_second = {
            name: spent / (time.monotonic() - began) for name, spent in used(before, cpu_ms(stack.processes)).items()
        }

        began, before = time.monotonic(), cpu_ms(stack.processes)
        submitted = await load.all_at_once(callers, jobs)
        await load.ended(submitted)
        seconds = time.monotonic() - began
        await _settled(stack, full)
        spent, lasted = used(before, cpu_ms(stack.processes)), time.monotonic() - began
        await load.completed(submitted)
    with psycopg.connect(stack.settings.postgres) as connection:
        [(acks,)] = connection.execute(ACKED.encode()).fetchall()
    return Round(
        round(seconds, 1),
        acks,
        {name: round((spent[name] - each_second[name] * lasted) / jobs, 3) for name in spent},
        {name: round(each_second[name], 2) for name in spent},
    )


async def add_destinations(caller: load.Caller, hook: str) -> None:
    """Give an org two more destinations: ClickHouse and an endpoint."""
    lake = {"kind": "clickhouse", "destinationId": "lake"}
    await caller.client.call("POST", "/api/v1/destinations", config_answers.ConfiguredDestination, lake)
    endpoint = {"url": hook, "eventTypes": []}
    await caller.client.call("POST", "/api/v1/webhooks", dict, endpoint)


async def _settled(stack: BenchStack, full: bool) -> None:
    """Wait until ClickHouse too has every event, then for what stores do behind it."""
    settings, deadline = stack.settings, time.monotonic() + PATIENCE_SECONDS
    ends = await asyncio.to_thread(committed_end, settings, events(settings), range(settings.partitions))
    heads = await asyncio.to_thread(head_positions, settings, decoder(settings), ends)
    while full:
        folded = await asyncio.to_thread(clickhouse_checkpoints, settings.postgres)
        if all(folded.get(partition, 0) >= head for partition, head in heads.items()):
            break
        if time.monotonic() > deadline:
            raise load.NotCompleted(f"ClickHouse had not every event after {PATIENCE_SECONDS:g} s")
        await asyncio.sleep(POLL_SECONDS)
    await asyncio.sleep(TAIL_SECONDS)


def cost_of(rounds: Sequence[Round]) -> Cost:
    """Return the middle of some rounds."""
    totals = [each.total for each in rounds]
    return Cost(
        median=round(statistics.median(totals), 2),
        least=round(min(totals), 2),
        most=round(max(totals), 2),
        by_process={
            name: round(statistics.median(each.cpu_ms_per_job[name] for each in rounds), 2)
            for name in rounds[0].cpu_ms_per_job
        },
        idle_ms_per_second=round(statistics.median(sum(each.idle_ms_per_second.values()) for each in rounds), 1),
        rounds=list(rounds),
    )


def show(figures: Figures) -> None:
    """Print both paths, process by process."""
    core, full = figures.core, figures.full
    print(f"{'CPU-ms a job, without what idle costs':<40}{'core':>8}{'full':>8}")
    for name, spent in full.by_process.items():
        print(f"{name:<40}{core.by_process.get(name, 0.0):>8.2f}{spent:>8.2f}")
    print(f"{'all, median of the rounds':<40}{core.median:>8.2f}{full.median:>8.2f}")
    print(f"{'least':<40}{core.least:>8.2f}{full.least:>8.2f}")
    print(f"{'most':<40}{core.most:>8.2f}{full.most:>8.2f}")
    print(f"{'idle, CPU-ms a second':<40}{core.idle_ms_per_second:>8.1f}{full.idle_ms_per_second:>8.1f}")
    print(f"the full path costs {figures.more_percent:g} % more")


def _tell(step: str) -> None:
    print(step, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
