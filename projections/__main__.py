"""The process that keeps the read model in Postgres: `python -m projections`."""

import asyncio
import contextlib
from functools import partial

from projections.lag import watch_lag
from projections.runner import READER, Runner
from services.runtime.admin import ensure_topics, wait_for_broker
from services.runtime.broker_watch import watch_broker
from services.runtime.health import Health, Progress
from services.runtime.health_server import serve
from services.runtime.ledger_log import LedgerLog
from services.runtime.process import run
from services.runtime.registry import decoder
from services.runtime.settings import Settings

SERVICE = "projections"
BROKER_SECONDS = 60.0


async def main(settings: Settings) -> None:
    """Project until cancelled or until something is wrong that waiting does not cure."""
    health = Health(SERVICE)
    runner = Runner(
        settings.postgres,
        range(settings.partitions),
        partial(LedgerLog, settings, decoder(settings)),
        health.part(READER),
    )
    server = await serve(settings, health)
    try:
        await asyncio.to_thread(wait_for_broker, settings, BROKER_SECONDS)
        await asyncio.to_thread(ensure_topics, settings)
        await _project(settings, runner, health.part("broker"))
    finally:
        await server.close()


async def _project(settings: Settings, runner: Runner, broker: Progress) -> None:
    """Run the runner in its thread; stopped from outside, let it end its batch first."""
    lag = asyncio.create_task(watch_lag(settings, READER, runner.positions, runner.heads))
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


if __name__ == "__main__":
    run(main, SERVICE)
