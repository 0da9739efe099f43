"""The Faust app of a worker: one agent on the topic of tasks."""

import asyncio

from faust import StreamT

from services.runtime.settings import Settings
from services.runtime.topics import tasks, workers_group
from services.streams.app import Handle, StreamApp, consume, raw_topic, stream_app
from services.streams.watch import Taking


def worker_app(settings: Settings, kind: str, handle: Handle, fault: asyncio.Future[None], taking: Taking) -> StreamApp:
    """Build the app; `handle` gets every task of the partitions that the group gives to this worker."""
    app = stream_app(settings, workers_group(settings, kind))

    @app.agent(raw_topic(app, tasks(settings, kind)), name=f"tasks-{kind}")
    async def agent(stream: StreamT[bytes]) -> None:
        await consume(stream, handle, fault, taking)

    return app
