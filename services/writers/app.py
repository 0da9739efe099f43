"""The Faust app of a bulk-writer: one agent on the topic of deliveries of its kind."""

import asyncio

from faust import StreamT

from services.runtime.settings import Settings
from services.runtime.topics import deliveries, writers_group
from services.streams.app import Handle, StreamApp, consume, raw_topic, stream_app
from services.streams.watch import Taking


def writer_app(settings: Settings, kind: str, handle: Handle, fault: asyncio.Future[None], taking: Taking) -> StreamApp:
    """Build the app; `handle` gets every record of the partitions that the group gives to this writer."""
    app = stream_app(settings, writers_group(settings, kind))

    @app.agent(raw_topic(app, deliveries(settings, kind)), name=f"deliveries-{kind}")
    async def agent(stream: StreamT[bytes]) -> None:
        await consume(stream, handle, fault, taking)

    return app
