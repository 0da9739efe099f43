"""Starts spiders on this machine."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from services.runtime.networks import Networks
from services.workers.spiders.archive import unpacked
from services.workers.spiders.frames import RoutedAnswer, RoutedRequest, Spec
from services.workers.spiders.options import RunOptions
from services.workers.spiders.process import Process, Route
from services.workers.spiders.protocol import Heard
from services.workers.spiders.sandbox import Users, give, working_folder
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
        """Unpack the project's archive, and start a process for it; raises ArchiveInvalid."""
        with contextlib.ExitStack() as stack:
            uid = stack.enter_context(self._users.one())
            folder = stack.enter_context(working_folder(self._folder, uid))
            root = await asyncio.to_thread(unpacked, archive, folder)
            await asyncio.to_thread(give, folder, uid)
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

    def __init__(self, process: Process, held: contextlib.ExitStack) -> None:
        self._process, self._held = process, held

    def heard(self) -> AsyncIterator[Heard]:
        """Yield what it says, and Ended at the end."""
        return self._process.heard()

    async def stop(self) -> None:
        """Ask it to end by itself, and kill it where it does not within the grace."""
        await self._process.stop()

    async def close(self) -> None:
        """Kill it if it runs, and leave nothing of it."""
        try:
            await self._process.close()
        finally:
            self._held.close()
