"""Serve the engine: `python -m services.localstack.clickhouse --port PORT --path DIRECTORY`."""

import argparse
import asyncio
import signal
from pathlib import Path

from aiohttp import web

from services.localstack.clickhouse.app import Interface, create_app
from services.localstack.clickhouse.engine import Engine
from services.localstack.ports import LOOPBACK
from services.runtime.logs import log_uncaught, setup_plain

LAST_REQUESTS_SECONDS = 5.0
MAX_URL_BYTES = 1024 * 1024  # as ClickHouse's http_max_uri_size: parameters of statements come in the URL


async def serve(port: int, path: Path) -> None:
    """Serve on loopback until SIGTERM or SIGINT; statements that run then are finished first."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    interface = Interface(Engine(path))
    # Bodies are unpacked by us: aiohttp would stop behind their first frame.
    runner = web.AppRunner(
        create_app(interface),
        access_log=None,
        auto_decompress=False,
        shutdown_timeout=LAST_REQUESTS_SECONDS,
        max_line_size=MAX_URL_BYTES,
    )
    try:
        await runner.setup()
        await web.TCPSite(runner, LOOPBACK, port).start()
        await stop.wait()
    finally:
        await runner.cleanup()
        interface.close()


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(description="ClickHouse's HTTP interface over an embedded engine.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--path", type=Path, required=True, help="the engine's directory")
    arguments = parser.parse_args()
    log_uncaught()
    setup_plain("INFO", "clickhouse")
    asyncio.run(serve(arguments.port, arguments.path))


if __name__ == "__main__":
    main()
