"""Defers Procrastinate's jobs; a job is done when Postgres says that it succeeded."""

import asyncio

from bench.peers.programs.options import options
from bench.peers.programs.procrastinate_app import app, job
from bench.peers.window import closed_loop, print_mark

DONE = "SELECT count(*) AS done FROM procrastinate_jobs WHERE status = 'succeeded'"


async def main() -> None:
    """Run the closed loop."""
    given = options("procrastinate_driver")
    async with app.open_async():

        async def submit() -> None:
            await job.defer_async(number=1)

        async def done() -> int:
            row = await app.connector.execute_query_one_async(DONE)
            return int(row["done"])

        await closed_loop(
            submit,
            done,
            print_mark,
            in_flight=given.in_flight,
            warm_up=given.warm_up,
            seconds=given.seconds,
            pause=0.05,
        )


if __name__ == "__main__":
    asyncio.run(main())
