"""Sends Celery's tasks; a task is done when its result is in Redis."""

import asyncio
import os

import redis

from bench.peers.programs.celery_app import job
from bench.peers.programs.options import options
from bench.peers.window import closed_loop, print_mark


async def main() -> None:
    """Run the closed loop."""
    given = options("celery_driver")
    results = redis.Redis.from_url(f"{os.environ['PEER_URL']}/1")

    async def submit() -> None:
        job.apply_async(args=(1,))

    async def done() -> int:
        return int(results.dbsize())

    await closed_loop(
        submit, done, print_mark, in_flight=given.in_flight, warm_up=given.warm_up, seconds=given.seconds, pause=0.005
    )


if __name__ == "__main__":
    asyncio.run(main())
