"""Pages that are fast and always good, and an endpoint that takes every webhook, in a process of its own.

The bench measures the ledger, not what it talks to.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

LOOPBACK = "127.0.0.1"
STOP_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class PageServer:
    """A running page server."""

    base_url: str
    pid: int


@contextmanager
def page_server() -> Iterator[PageServer]:
    """Start the server, lend it, and stop it."""
    process = subprocess.Popen([sys.executable, "-m", "bench.pages"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        yield PageServer(f"http://{LOOPBACK}:{port}", process.pid)
    finally:
        process.terminate()
        process.communicate(timeout=STOP_SECONDS)


def serve() -> None:
    """Serve until told to stop; the port is printed first."""
    import asyncio
    import signal

    from aiohttp import web

    from services.cli.demo_pages import product_page

    async def page(request: web.Request) -> web.Response:
        return web.Response(text=product_page(int(request.match_info["number"])), content_type="text/html")

    async def hook(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(status=204)

    async def main() -> None:
        app = web.Application()
        app.router.add_get(r"/product/{number:\d+}", page)
        app.router.add_post("/hook", hook)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, LOOPBACK, 0).start()
        print(runner.addresses[0][1], flush=True)
        stopped = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
        await stopped.wait()
        await runner.cleanup()

    asyncio.run(main())


if __name__ == "__main__":
    serve()
