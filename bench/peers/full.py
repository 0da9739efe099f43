"""The full path: over HTTP, one provider call stubbed in the worker, three destinations, read back.

A round is a burst: from before the first POST until the API has answered that the last job is completed.
"""

import asyncio
import time
from dataclasses import replace

from bench import load
from bench.destinations import add_destinations
from bench.pages import PageServer
from bench.peers.figures import Measure
from bench.processes import cpu_ms, used
from bench.stack import BenchStack, part_stack
from services.localstack.services import SERVICES

ORGS = 24
SLOTS = 64


def full_path(pages: PageServer, jobs: int, warm_up: int) -> Measure:
    """Start a whole stack and measure one burst."""
    services = [
        replace(each, arguments=("-m", "bench.peers.stub_worker")) if each.name == "workers" else each
        for each in SERVICES
    ]
    with part_stack(SLOTS, services, True, lambda _step: None) as stack:
        return asyncio.run(_burst(stack, pages, jobs, warm_up))


async def _burst(stack: BenchStack, pages: PageServer, jobs: int, warm_up: int) -> Measure:
    async with load.callers(stack.base_url, stack.operator_key, pages.base_url, ORGS) as callers:
        for caller in callers:
            await add_destinations(caller, f"{pages.base_url}/hook")
        await load.ended(await load.all_at_once(callers, warm_up))
        began, before = time.monotonic(), cpu_ms(stack.processes)
        submitted = await load.all_at_once(callers, jobs)
        await load.ended(submitted)
        seconds, spent = time.monotonic() - began, used(before, cpu_ms(stack.processes))
        await load.completed(submitted)
    return Measure(round(jobs / seconds, 1), {name: round(cost / jobs, 4) for name, cost in spent.items()})
