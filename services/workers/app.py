"""The Faust app of a worker: one agent on the topic of tasks."""

import asyncio

from faust import StreamT

from services.runtime.settings import Settings
from services.runtime.topics import tasks
from services.streams.app import Handle, StreamApp, consume, raw_topic, stream_app


def worker_app(settings: Settings, kind: str, handle: Handle, fault: asyncio.Future[None]) -> StreamApp:
    """Build the app; `handle` gets every task of the partitions that the group gives to this worker."""
    app = stream_app(settings, f"{settings.topic_prefix}.workers-{kind}.v1")

    @app.agent(raw_topic(app, tasks(settings, kind)), name=f"tasks-{kind}")
    async def agent(stream: StreamT[bytes]) -> None:
        await consume(stream, handle, fault)

    return app
