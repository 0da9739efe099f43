"""Calls Restate's handler over its ingress; a job is done when the call is answered."""

import asyncio

import aiohttp

from bench.peers.programs.options import options
from bench.peers.window import Calls, closed_loop, print_mark


async def main() -> None:
    """Run the closed loop."""
    given = options("restate_driver")
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(given.url, connector=connector) as session:

        async def call() -> None:
            async with session.post("/peer/job", json=1) as answer:
                answer.raise_for_status()
                await answer.read()

        calls = Calls(call)
        await closed_loop(
            calls.submit,
            calls.done,
            print_mark,
            in_flight=given.in_flight,
            warm_up=given.warm_up,
            seconds=given.seconds,
            pause=0.002,
        )
        await calls.rest()


if __name__ == "__main__":
    asyncio.run(main())
