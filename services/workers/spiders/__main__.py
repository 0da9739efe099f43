"""A worker process for spider jobs: `python -m services.workers.spiders`."""

import asyncio
import contextlib
from functools import partial

from services.runtime.blob import BlobStore
from services.runtime.process import run
from services.runtime.settings import Settings
from services.workers.executor import Attempt
from services.workers.process import ProvidersOf, work
from services.workers.project_env import StoredProjectEnv
from services.workers.providers.registry import Providers
from services.workers.spiders import tree
from services.workers.spiders.apart import network_apart
from services.workers.spiders.attempt import attempts
from services.workers.spiders.folders import sweep
from services.workers.spiders.local import LocalRunner
from services.workers.spiders.sandbox import hide, users
from services.workers.spiders.unblocker import unblocker
from services.workers.steps import Tools

KIND = "spider"


async def main(settings: Settings, providers_of: ProvidersOf | None = None) -> None:
    """Run one worker until it is cancelled or something fails for good."""
    hide()
    theirs = await asyncio.to_thread(users, settings.spider_first_uid, settings.spider_users or settings.worker_slots)
    await asyncio.to_thread(tree.kill_users, theirs.every)
    await asyncio.to_thread(sweep, settings.spider_folder)
    apart = network_apart(min(theirs.every, default=None))
    async with contextlib.AsyncExitStack() as stack:
        routes = await stack.enter_async_context(unblocker(settings))
        environments = StoredProjectEnv(settings)
        stack.push_async_callback(environments.close)
        await environments.start()
        runner = LocalRunner(
            allowed=settings.allowed_networks,
            folder=settings.spider_folder,
            users=theirs,
            apart=apart,
            unblocker=routes,
        )

        def attempt_of(tools: Tools, _store: BlobStore) -> Attempt:
            return partial(attempts, tools.blobs, environments, runner)

        await work(settings, KIND, attempt_of, providers_of or Providers, grace_seconds=0.0)


if __name__ == "__main__":
    run(main)
