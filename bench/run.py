"""One run of the bench: the stack idle, one job at a time, a burst, a steady rate, and the floor."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass

from bench import load
from bench.figures import Cost, Figures, spread
from bench.floor import measure_floor, records_in
from bench.machine import machine_facts
from bench.operations import operations, per_job
from bench.pages import PageServer
from bench.processes import cpu_ms, memory, used
from bench.stack import BenchStack

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    jobs: int  # of the burst
    single_jobs: int
    warm_up_jobs: int
    paced_seconds: float
    idle_seconds: float
    orgs: int = 24
    worker_slots: int = 32
    paced_share: float = 0.5  # of the rate of the burst


FULL = Plan(jobs=3000, single_jobs=100, warm_up_jobs=200, paced_seconds=20.0, idle_seconds=30.0)
QUICK = Plan(jobs=300, single_jobs=20, warm_up_jobs=50, paced_seconds=5.0, idle_seconds=5.0)


async def measure(plan: Plan, stack: BenchStack, pages: PageServer, tell: Tell) -> Figures:
    """Measure everything, on a stack that has just been started."""
    processes = {**stack.processes, "bench": os.getpid(), "pages": pages.pid}
    async with load.callers(stack.base_url, stack.operator_key, pages.base_url, plan.orgs) as callers:
        tell("warming up")
        await load.ended(await load.all_at_once(callers, plan.warm_up_jobs))

        tell(f"idle for {plan.idle_seconds:g} s")
        before = cpu_ms(processes)
        await asyncio.sleep(plan.idle_seconds)
        idle = used(before, cpu_ms(processes))

        tell(f"{plan.single_jobs} jobs, one at a time")
        single, waits = await load.one_at_a_time(callers[0], plan.single_jobs)
        alone = load.latencies(await load.completed(single))

        tell(f"{plan.jobs} jobs at once")
        done, records = operations(stack.settings, stack.endpoints), records_in(stack.settings)
        before = cpu_ms(processes)
        submitted = await load.all_at_once(callers, plan.jobs)
        await load.ended(submitted)
        busy, records = used(before, cpu_ms(processes)), records_in(stack.settings) - records
        done_by_job = per_job(done, operations(stack.settings, stack.endpoints), plan.jobs)
        burst = await load.completed(submitted)
        jobs_per_second = plan.jobs / load.span_seconds(burst)

        rate = jobs_per_second * plan.paced_share
        tell(f"{rate:.0f} jobs/s for {plan.paced_seconds:g} s")
        paced_load = await load.at_a_rate(callers, rate, plan.paced_seconds)
        await load.ended(paced_load)
        paced = await load.completed(paced_load)

    used_memory = memory(processes)
    tell("the floor")
    floor = await asyncio.to_thread(measure_floor, stack.settings, stack.processes["broker"], records)
    return Figures(
        machine=machine_facts(),
        broker=stack.broker,
        orgs=plan.orgs,
        worker_slots=plan.worker_slots,
        jobs=plan.jobs,
        jobs_per_second=round(jobs_per_second, 1),
        one_at_a_time=spread(alone),
        one_at_a_time_seen=spread(waits),
        burst=spread(load.latencies(burst)),
        paced_jobs_per_second=round(rate, 1),
        paced=spread(load.latencies(paced)),
        records_per_job=round(records / plan.jobs, 1),
        operations_per_job=done_by_job,
        processes={
            name: Cost(
                round(busy[name] / plan.jobs, 3), round(idle[name] / plan.idle_seconds / 10, 2), used_memory[name]
            )
            for name in stack.processes
        },
        floor=floor,
    )
