"""The frame of a process that projects: topics there, health served, lag told, the runner in its thread."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from projections.lag import watch_lag
from projections.runner import Runner
from services.runtime.admin import ensure_topics, wait_for_broker
from services.runtime.broker_watch import watch_broker
from services.runtime.health import Health, Progress
from services.runtime.health_server import serve
from services.runtime.settings import Settings

BROKER_SECONDS = 60.0


async def project(settings: Settings, service: str, reader: str, runner_of: Callable[[Progress], Runner[Any]]) -> None:
    """Project until cancelled or until something is wrong that waiting does not cure."""
    health = Health(service)
    runner = runner_of(health.part(reader))
    server = await serve(settings, health)
    try:
        await asyncio.to_thread(wait_for_broker, settings, BROKER_SECONDS)
        await asyncio.to_thread(ensure_topics, settings)
        await _run(settings, runner, health.part("broker"))
    finally:
        await server.close()


async def _run(settings: Settings, runner: Runner[Any], broker: Progress) -> None:
    """Run the runner in its thread; stopped from outside, let it end its batch first."""
    lag = asyncio.create_task(watch_lag(settings, runner.reader, runner.positions, runner.heads))
    answers = asyncio.create_task(watch_broker(settings, broker))
    work = asyncio.create_task(asyncio.to_thread(runner.run))
    try:
        await asyncio.wait((lag, answers, work), return_when=asyncio.FIRST_COMPLETED)
    finally:
        runner.stop()
        lag.cancel()
        answers.cancel()
        await asyncio.shield(work)
        with contextlib.suppress(asyncio.CancelledError):
            await lag
        with contextlib.suppress(asyncio.CancelledError):
            await answers
