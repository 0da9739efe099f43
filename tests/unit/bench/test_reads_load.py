"""The load of the bench of reads is an open loop: a server that stalls is charged for all who would have come."""

import asyncio

from aiohttp import web

from bench.reads_load import Plan, ask

STALL_SECONDS = 0.5


async def test_a_stall_of_the_server_is_in_the_latency_of_every_request_that_was_due_meanwhile() -> None:
    free = asyncio.Event()
    came = 0

    async def handle(_request: web.Request) -> web.Response:
        nonlocal came
        came += 1
        if came == 1:
            asyncio.get_running_loop().call_later(STALL_SECONDS, free.set)
        await free.wait()
        return web.Response(status=200 if came % 2 else 404)

    app = web.Application()
    app.router.add_get("/{name}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        plan = Plan(f"http://127.0.0.1:{runner.addresses[0][1]}", ["/a", "/b"], {}, per_second=100, seconds=0.4)
        heard = await ask(plan)
    finally:
        await runner.cleanup()
    assert heard.latency_ms.count == came == 40
    assert heard.latency_ms.p50 > 200, "half of them were due in the first 0.2 s of a stall of 0.5 s"
    assert heard.worst_ms >= STALL_SECONDS * 1000 * 0.9
    assert heard.failed > 0
