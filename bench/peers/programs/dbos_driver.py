"""A DBOS process: workflows of four steps that do nothing, called directly, which is the quickest way to run one.

Each process has its share of the jobs in flight. A job is done when its workflow has returned: then its result is in
Postgres.
"""

import asyncio

from dbos import DBOS, DBOSConfig

from bench.peers.programs.options import STEPS, options
from bench.peers.window import Calls, closed_loop, print_mark


@DBOS.step()
async def nothing() -> int:
    """Do nothing; DBOS stores the result."""
    return 1


@DBOS.workflow()
async def job(number: int) -> int:
    """Run the steps, each stored before the next begins."""
    for _ in range(STEPS):
        await nothing()
    return number


async def main() -> None:
    """Run the closed loop over workflows of this process."""
    given = options("dbos_driver")
    config: DBOSConfig = {"name": "peer", "system_database_url": given.url, "log_level": "WARNING"}
    DBOS(config=config)
    DBOS.launch()

    async def call() -> None:
        await job(1)

    calls = Calls(call)
    await closed_loop(
        calls.submit,
        calls.done,
        print_mark,
        in_flight=given.in_flight,
        warm_up=given.warm_up,
        seconds=given.seconds,
        pause=0.005,
    )
    await calls.rest()
    DBOS.destroy()


if __name__ == "__main__":
    asyncio.run(main())
