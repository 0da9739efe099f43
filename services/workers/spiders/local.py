"""Starts spiders on this machine."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from services.runtime.networks import Networks
from services.workers.spiders.archive import unpacked
from services.workers.spiders.folders import give, working_folder
from services.workers.spiders.frames import RoutedAnswer, RoutedRequest, Spec
from services.workers.spiders.options import RunOptions
from services.workers.spiders.process import Process, Route
from services.workers.spiders.protocol import Heard
from services.workers.spiders.sandbox import Users
from services.workers.spiders.unblocker import Unblocker


class LocalRunner:
    """Starts a process for each run, in a folder of its own that goes with it."""

    def __init__(
        self,
        *,
        allowed: Networks = (),
        folder: str = "",
        users: Users | None = None,
        apart: bool = True,
        unblocker: Unblocker | None = None,
    ) -> None:
        self._allowed, self._folder, self._users = allowed, folder, users or Users()
        self._apart, self._unblocker = apart, unblocker

    async def start(self, options: RunOptions, archive: bytes) -> "LocalSpider":
        """Unpack the project's archive, and start a process for it; raises ArchiveInvalid, or OSError."""
        async with contextlib.AsyncExitStack() as stack:
            uid = stack.enter_context(self._users.one())
            folder = stack.enter_context(working_folder(self._folder))
            root = await _to_its_end(lambda: _ready(archive, folder, uid))
            spec = Spec(
                does="crawl",
                project=str(root),
                spiders=options.spiders,
                spider_args=options.spider_args,
                settings=options.settings,
                isolate_pipelines=options.isolate_pipelines,
                unblock=options.unblock,
                log_level=options.log_level,
                memory_mb=options.memory_mb,
                cpus=options.cpus,
            )
            process = Process(self._route(options))
            stack.push_async_callback(process.close)
            await process.start(spec, self._allowed, options.env, folder, uid, apart=self._apart)
            return LocalSpider(process, stack.pop_all())
        raise AssertionError

    def _route(self, options: RunOptions) -> Route | None:
        unblocker = self._unblocker
        if unblocker is None or options.unblock == "off":
            return None

        async def routed(asked: RoutedRequest) -> RoutedAnswer:
            return await unblocker.fetch(asked, options.proxy_country)

        return routed


class LocalSpider:
    """A process, with its folder and its user."""

    def __init__(self, process: Process, held: contextlib.AsyncExitStack) -> None:
        self._process, self._held = process, held

    def heard(self) -> AsyncIterator[Heard]:
        """Yield what it says, and Ended at the end."""
        return self._process.heard()

    async def stop(self, grace_seconds: float) -> None:
        """Ask it to end by itself, and kill it where it does not in time."""
        await self._process.stop(grace_seconds)

    async def close(self) -> None:
        """Kill it if it runs, and leave nothing of it."""
        await self._held.aclose()


def _ready(archive: bytes, folder: Path, uid: int | None) -> Path:
    root = unpacked(archive, folder)
    give(folder, uid)
    return root


async def _to_its_end(call: Callable[[], Path]) -> Path:
    """Call something in a thread; who is cancelled meanwhile waits for it: it must not write where all is removed."""
    calling = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        return await asyncio.shield(calling)
    except asyncio.CancelledError:
        await asyncio.wait({calling})
        raise
