"""The floor of a read over HTTP: aiohttp with a constant, and with one `SELECT 1`: `python -m bench.reads_floor DSN`.

The same loop, pool and settings as the API has, and nothing of the API.
"""

import asyncio
import sys

import uvloop
from aiohttp import web

from projections.postgres.read import ReadModel

ANSWER = b'{"jobId":"01a2282a-fcfb-70af-a5b1-fce33082bfb9","status":"completed"}'


async def serve(dsn: str) -> None:
    """Say on which port, and serve until killed."""
    model = ReadModel(dsn)
    await model.open()
    pool = model._pool  # noqa: SLF001  # that very pool is the floor

    async def constant(_request: web.Request) -> web.Response:
        return web.Response(body=ANSWER, content_type="application/json")

    async def select(_request: web.Request) -> web.Response:
        async with pool.connection() as connection, connection.cursor(binary=True) as cursor:
            await (await cursor.execute("SELECT 1")).fetchone()
        return web.Response(body=ANSWER, content_type="application/json")

    app = web.Application()
    app.add_routes([web.get("/constant", constant), web.get("/select", select)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(sys.argv[1]))
