"""A worker whose tasks are steps that do nothing: `python -m bench.peers.steps_worker`.

It claims, reports, beats and ends as a worker does; what it leaves out is the work itself, and with it providers, blobs
and workflows. How many steps a job has, and whether each is told before the next begins, says its workflow_ref.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncGenerator

from services.ledger.replies import Granted
from services.ledger.reports import Extracted, NodeReport
from services.ledger.tasks import Task
from services.ledger.wire import TASKS
from services.runtime.commander import Commander
from services.runtime.dead_letter_topic import dead_letters_of
from services.runtime.health import Health
from services.runtime.health_server import serve
from services.runtime.process import run
from services.runtime.producer import Producer
from services.runtime.settings import Settings
from services.streams.app import raised, running, until_it_stops
from services.streams.intake import Intake, misplaced
from services.streams.watch import Taking
from services.workers.__main__ import KIND
from services.workers.app import worker_app
from services.workers.attempt import Report
from services.workers.executor import Executor
from services.workers.heartbeat import Heartbeat
from services.workers.slots import Slots

TOLD_APART, TOLD_TOGETHER = "apart", "together"


def steps_ref(steps: int, told: str) -> str:
    """Return the workflow_ref that asks for so many steps."""
    return f"{told}/{steps}"


async def steps(task: Task, granted: Granted) -> AsyncGenerator[Report]:
    """Do nothing so many times; told apart, each step is in the log before the next one begins."""
    told, _, count = task.workflow_ref.partition("/")
    nodes = tuple(_node(number, int(count)) for number in range(int(count)))
    if told == TOLD_APART:
        for node in nodes[:-1]:
            yield Report((node,))
        nodes = nodes[-1:]
    yield Report(nodes, Extracted(result_ref=f"bench/{task.job_id}/{granted.attempt}"))


def _node(number: int, count: int) -> NodeReport:
    after = f"step-{number + 1}" if number + 1 < count else "end"
    return NodeReport(
        step=number, node_id=f"step-{number}", node_kind="service", edge="success", next_node_id=after, latency_ms=0
    )


async def main(settings: Settings) -> None:
    """Run one worker until it is cancelled."""
    worker_id = f"{socket.gethostname()}-{os.getpid()}"
    slots, health = Slots(settings.worker_slots), Health("workers")
    async with contextlib.AsyncExitStack() as stack:
        server = await serve(settings, health)
        stack.push_async_callback(server.close)
        producer = Producer(settings, "worker-dead-letters")
        producer.start()
        stack.callback(producer.close)
        commander = Commander(settings, "worker")
        await commander.start()
        stack.push_async_callback(commander.close)
        executor = Executor(commander, worker_id, slots, steps)
        heartbeat = Heartbeat(
            commander,
            executor,
            slots,
            health.part("ledger"),
            worker_id=worker_id,
            kind=KIND,
            partitions=settings.partitions,
            every_seconds=settings.heartbeat_seconds,
        )
        intake = Intake(
            TASKS,
            executor.accept,
            dead_letters_of(settings, producer),
            lambda task, record: misplaced(record, settings, task.org_id, [(task.partition, task.job_id)]),
        )
        app = worker_app(settings, KIND, intake.take, executor.failed, Taking())
        await stack.enter_async_context(running(app))
        async with asyncio.TaskGroup() as group:
            group.create_task(raised(asyncio.create_task(heartbeat.run())))
            group.create_task(until_it_stops(app))
            group.create_task(commander.wait())
            group.create_task(raised(executor.failed))


if __name__ == "__main__":
    run(main)
