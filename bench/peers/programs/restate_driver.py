"""Calls Restate's handler over its ingress; a job is done when the call is answered."""

import asyncio

import aiohttp

from bench.peers.programs.options import options
from bench.peers.window import closed_loop, print_mark


async def main() -> None:
    """Run the closed loop."""
    given, done, calls = options("restate_driver"), [0], set[asyncio.Task[None]]()
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(given.url, connector=connector) as session:

        async def call() -> None:
            async with session.post("/peer/job", json=1) as answer:
                answer.raise_for_status()
                await answer.read()
            done[0] += 1

        async def submit() -> None:
            task = asyncio.create_task(call())
            calls.add(task)
            task.add_done_callback(ended)

        def ended(task: asyncio.Task[None]) -> None:
            calls.discard(task)
            if not task.cancelled():
                task.result()

        async def counted() -> int:
            return done[0]

        await closed_loop(
            submit,
            counted,
            print_mark,
            in_flight=given.in_flight,
            warm_up=given.warm_up,
            seconds=given.seconds,
            pause=0.002,
        )
        await asyncio.gather(*calls)


if __name__ == "__main__":
    asyncio.run(main())
