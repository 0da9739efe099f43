"""Procrastinate's app: one task that does nothing; `prepare` makes its tables."""

import asyncio
import os

import procrastinate

app = procrastinate.App(
    connector=procrastinate.PsycopgConnector(conninfo=os.environ["PEER_URL"], min_size=4, max_size=20)
)


@app.task(name="job")
async def job(number: int) -> None:
    """Do nothing."""


async def prepare() -> None:
    """Make the tables."""
    async with app.open_async():
        await app.schema_manager.apply_schema_async()


if __name__ == "__main__":
    asyncio.run(prepare())
