"""How fast a job is read, and what that costs, beside the floor of the same machine: `python -m bench.reads`.

On a stack that does nothing else, one process asks for jobs at a steady rate (bench/reads_load.py), and in turn for a
constant and for one `SELECT 1` (bench/reads_floor.py). The ratios hold on a busy machine too; the milliseconds do not.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from api import config_answers
from bench import load
from bench.machine import machine_facts
from bench.pages import PageServer, page_server
from bench.processes import cpu_ms, used
from bench.reads_load import Heard, Plan
from bench.stack import BenchStack, own_stack
from services.cli.client import Client

RESULTS = Path(__file__).parent / "results" / "reads.json"
JOBS = 200
IDLE_SECONDS = 5.0
TARGET_P99_MS = 10.0


class Reads(msgspec.Struct, frozen=True):
    """One kind of read: medians of the rounds."""

    p50_ms: float
    p99_ms: float
    worst_ms: float
    cpu_ms_per_request: float  # of the server process, without what it uses when idle
    failed: int
    rounds: list[Heard]


class Figures(msgspec.Struct, frozen=True):
    """What was measured."""

    machine: dict[str, str | int | float]
    broker: str
    per_second: float
    seconds: float  # of each round
    target_p99_ms: float
    job: Reads
    constant: Reads
    select: Reads
    p99_over_constant: float
    p99_over_select: float
    cpu_over_constant: float
    cpu_over_select: float


def main() -> None:
    """Measure and print; write the figures down where asked to."""
    options = argparse.ArgumentParser(prog="python -m bench.reads", description=__doc__.partition("\n")[0])
    options.add_argument("--per-second", type=float, default=300.0, help="requests (300)")
    options.add_argument("--seconds", type=float, default=20.0, help="of each round (20)")
    options.add_argument("--rounds", type=int, default=3, help="of each kind of read (3)")
    options.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    given = options.parse_args()
    with page_server() as pages, own_stack(8, _tell) as stack, floor(stack) as (floor_url, floor_pid):
        paths, key = asyncio.run(some_jobs(stack, pages))
        kinds = {
            "constant": (Plan(floor_url, ["/constant"], {}, given.per_second, given.seconds), floor_pid),
            "select": (Plan(floor_url, ["/select"], {}, given.per_second, given.seconds), floor_pid),
            "job": (
                Plan(stack.base_url, paths, {"Authorization": f"Bearer {key}"}, given.per_second, given.seconds),
                stack.processes["api"],
            ),
        }
        measured = measure(kinds, given.rounds)
        broker = stack.broker
    job, constant, select = measured["job"], measured["constant"], measured["select"]
    figures = Figures(
        machine_facts(),
        broker,
        given.per_second,
        given.seconds,
        TARGET_P99_MS,
        job,
        constant,
        select,
        p99_over_constant=round(job.p99_ms / constant.p99_ms, 2),
        p99_over_select=round(job.p99_ms / select.p99_ms, 2),
        cpu_over_constant=round(job.cpu_ms_per_request / constant.cpu_ms_per_request, 2),
        cpu_over_select=round(job.cpu_ms_per_request / select.cpu_ms_per_request, 2),
    )
    text = msgspec.json.format(msgspec.json.encode(figures), indent=2)
    sys.stdout.buffer.write(text + b"\n")
    if given.write:
        RESULTS.write_bytes(text + b"\n")


async def some_jobs(stack: BenchStack, pages: PageServer) -> tuple[list[str], str]:
    """Have jobs completed; return the path of each, and a key that reads them as often as it likes."""
    async with load.callers(stack.base_url, stack.operator_key, pages.base_url, 1) as callers:
        submitted = await load.all_at_once(callers, JOBS)
        await load.ended(submitted)
        jobs = await load.completed(submitted)
        made = await callers[0].client.call("POST", "/api/v1/keys", config_answers.NewKey)
    async with Client(stack.base_url, stack.operator_key) as operator:
        limit = {"callsPerSecond": 0}
        await operator.call("PUT", "/api/v1/orgs/bench-0/call-limit", config_answers.CallLimit, limit)
    return [f"/api/v1/jobs/{job.job_id}" for job in jobs], made.secret


def measure(kinds: Mapping[str, tuple[Plan, int]], rounds: int) -> dict[str, Reads]:
    """Take every kind in turn, several times."""
    heard: dict[str, list[Heard]] = {name: [] for name in kinds}
    costs: dict[str, list[float]] = {name: [] for name in kinds}
    for number in range(rounds):
        for name, (plan, pid) in kinds.items():
            before, began = cpu_ms({name: pid}), time.monotonic()
            time.sleep(IDLE_SECONDS)
            idle = used(before, cpu_ms({name: pid}))[name] / (time.monotonic() - began)
            before, began = cpu_ms({name: pid}), time.monotonic()
            said = _asked(plan)
            cost = used(before, cpu_ms({name: pid}))[name] - idle * (time.monotonic() - began)
            heard[name].append(said)
            costs[name].append(cost / said.latency_ms.count)
            _tell(f"round {number + 1}, {name}: p99 {said.latency_ms.p99:.2f} ms, {costs[name][-1]:.2f} CPU-ms")
    return {
        name: Reads(
            statistics.median(each.latency_ms.p50 for each in heard[name]),
            statistics.median(each.latency_ms.p99 for each in heard[name]),
            max(each.worst_ms for each in heard[name]),
            round(statistics.median(costs[name]), 3),
            sum(each.failed for each in heard[name]),
            heard[name],
        )
        for name in kinds
    }


@contextmanager
def floor(stack: BenchStack) -> Iterator[tuple[str, int]]:
    """Run the floor's server while the block runs; lend its URL and pid."""
    command = [sys.executable, "-m", "bench.reads_floor", stack.settings.postgres]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}", process.pid
        finally:
            process.kill()


def _asked(plan: Plan) -> Heard:
    command = [sys.executable, "-m", "bench.reads_load"]
    done = subprocess.run(command, input=msgspec.json.encode(plan), stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Heard)


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
