"""Plays BigQuery, Snowflake and Databricks, and a sink: `python -m bench.warehouses.played`, until it is stopped."""

import asyncio
import json
import signal
import sys

from aiohttp import web

from tests.fakes.warehouses import databricks, snowflake
from tests.fakes.warehouses.bigquery import server as bigquery


async def main() -> None:
    """Start everything and print where it is."""
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    app = web.Application(client_max_size=1 << 30)
    app.router.add_post("/", _swallow)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    flake, lake = snowflake.SnowflakeFake(), databricks.DatabricksFake()
    async with bigquery.serving() as query, snowflake.running(flake), databricks.running(lake):
        told = {
            "sink": f"http://127.0.0.1:{runner.addresses[0][1]}/",
            "bigquery": {"project": bigquery.PROJECT, "dataset": bigquery.DATASET, "endpoint": query.url},
            "keyFile": query.tokens.key_file(),
            "snowflake": {
                "account": "acc",
                "user": snowflake.USER,
                "database": "bench",
                "schema": "s",
                "warehouse": "w",
                "host": "127.0.0.1",
            },
            "snowflakePort": flake.port,
            "password": snowflake.PASSWORD,
            "databricks": {
                "host": "adb-1.example.com",
                "warehouseId": databricks.WAREHOUSE_ID,
                "catalog": lake.delta.catalog,
                "schema": lake.delta.schema,
            },
            "token": databricks.TOKEN,
            "workspace": str(lake.url),
        }
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
        await stopped.wait()
    await runner.cleanup()


async def _swallow(request: web.Request) -> web.Response:
    async for _ in request.content.iter_any():
        pass
    return web.Response()


if __name__ == "__main__":
    asyncio.run(main())
