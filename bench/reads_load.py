"""Asks for paths at a steady rate from a process of its own: `python -m bench.reads_load`, a plan on stdin.

An open loop: each request has its time, whether those before it were answered or not, and its latency counts from that
time. So a server that stalls is charged for everybody who would have come meanwhile (no coordinated omission).
"""

import asyncio
import gc
import itertools
import sys
import time
from collections.abc import Sequence

import aiohttp
import msgspec
import uvloop

from bench.figures import Spread, spread

LATE_SECONDS = 30.0  # an answer that takes longer is none


class Plan(msgspec.Struct, frozen=True):
    """What to ask for, in turn, and how often."""

    base_url: str
    paths: Sequence[str]
    headers: dict[str, str]
    per_second: float
    seconds: float


class Heard(msgspec.Struct, frozen=True):
    """What came back, in milliseconds from the time at which each request was due."""

    latency_ms: Spread
    worst_ms: float
    failed: int  # other than 200, or none in time
    behind_ms: float  # the most that a request was sent late by this process itself: above 1 or so it was too busy


async def ask(plan: Plan) -> Heard:
    """Carry a plan out."""
    latencies: list[float] = []
    behind: list[float] = []
    failed = 0
    timeout = aiohttp.ClientTimeout(total=LATE_SECONDS)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(headers=plan.headers, timeout=timeout, connector=connector) as session:

        async def one(path: str, due: float) -> None:
            nonlocal failed
            behind.append(time.perf_counter() - due)
            try:
                async with session.get(plan.base_url + path) as answer:
                    await answer.read()
                    failed += answer.status != 200
            except (aiohttp.ClientError, TimeoutError):
                failed += 1
            latencies.append(time.perf_counter() - due)

        began = time.perf_counter() + 0.1
        tasks: set[asyncio.Task[None]] = set()
        for number, path in zip(range(int(plan.per_second * plan.seconds)), itertools.cycle(plan.paths), strict=False):
            due = began + number / plan.per_second
            if (wait := due - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            task = asyncio.create_task(one(path, due))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)
    milliseconds = [each * 1000 for each in latencies]
    return Heard(spread(milliseconds), round(max(milliseconds), 3), failed, round(max(behind) * 1000, 3))


def main() -> None:
    """Read a plan, carry it out, write what was heard."""
    plan = msgspec.json.decode(sys.stdin.buffer.read(), type=Plan)
    gc.disable()  # its pauses would be charged to the server
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        heard = runner.run(ask(plan))
    sys.stdout.buffer.write(msgspec.json.encode(heard))


if __name__ == "__main__":
    main()
