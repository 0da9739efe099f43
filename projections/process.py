"""The frame of a process that projects: topics there, health served, lag told, the runner in its thread."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from projections.lag import watch_lag
from projections.runner import Runner
from schemas.codec import Decoder
from services.runtime.admin import ensure_topics, wait_for_broker
from services.runtime.asking import stop_watching
from services.runtime.broker_watch import watch_broker
from services.runtime.health import Health, Progress
from services.runtime.health_server import serve
from services.runtime.settings import Settings
from services.runtime.standstill import STANDSTILL_SECONDS
from services.runtime.store_watch import Watch

BROKER_SECONDS = 60.0


async def project(
    settings: Settings,
    service: str,
    reader: str,
    runner_of: Callable[[Progress], Runner[Any]],
    stores: Mapping[str, Watch],
    decoder: Decoder,
    standstill_seconds: float = STANDSTILL_SECONDS,
) -> None:
    """Project until cancelled or until something is wrong that waiting does not cure.

    `stores` are the servers that the projection stands on, each with what watches it; `standstill_seconds` how long a
    position may stand although the log goes on: a projection that collects needs longer than others.
    """
    health = Health(service)
    runner = runner_of(health.part(reader))
    watches: dict[str, Watch] = {"broker": lambda part: watch_broker(settings, part), **stores}
    if settings.broker != "tansu":  # its end offsets are wrong
        watches["log"] = lambda part: watch_lag(settings, decoder, runner, part, standstill_seconds)
    server = await serve(settings, health)
    try:
        await asyncio.to_thread(wait_for_broker, settings, BROKER_SECONDS)
        await asyncio.to_thread(ensure_topics, settings)
        await _run(runner, [watch(health.part(name)) for name, watch in watches.items()])
    finally:
        await server.close()


async def _run(runner: Runner[Any], watches: list[Coroutine[None, None, None]]) -> None:
    """Run the runner in its thread; stopped from outside, let it end its batch first."""
    watching = [asyncio.create_task(watch) for watch in watches]
    work = asyncio.create_task(asyncio.to_thread(runner.run))
    try:
        await asyncio.wait((*watching, work), return_when=asyncio.FIRST_COMPLETED)
    finally:
        runner.stop()
        await asyncio.shield(work)
        await stop_watching(watching)
