"""Serve the registry: `python -m services.localstack.registry --port PORT --file FILE`."""

import argparse
import asyncio
import signal
from pathlib import Path

from aiohttp import web

from services.localstack.ports import LOOPBACK
from services.localstack.registry.app import create_app
from services.localstack.registry.store import open_store
from services.runtime.logs import log_uncaught, setup_plain


async def serve(port: int, file: Path) -> None:
    """Serve on loopback until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    runner = web.AppRunner(create_app(open_store(file)), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, port).start()
    await stop.wait()
    await runner.cleanup()


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(description="A small Confluent-compatible schema registry for Avro.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--file", type=Path, required=True, help="where schemas are kept, JSON lines")
    arguments = parser.parse_args()
    log_uncaught()
    setup_plain("INFO", "registry")
    asyncio.run(serve(arguments.port, arguments.file))


if __name__ == "__main__":
    main()
