"""A worker process for spider jobs: `python -m services.workers.spiders`."""

from functools import partial

from services.runtime.blob import BlobStore
from services.runtime.process import run
from services.runtime.settings import Settings
from services.workers.executor import Attempt
from services.workers.process import ProvidersOf, work
from services.workers.providers.registry import Providers
from services.workers.spiders.apart import network_apart
from services.workers.spiders.attempt import attempts
from services.workers.spiders.local import LocalRunner
from services.workers.spiders.sandbox import sweep
from services.workers.spiders.unblocker import unblocker
from services.workers.steps import Tools

KIND = "spider"


async def main(settings: Settings, providers_of: ProvidersOf | None = None) -> None:
    """Run one worker until it is cancelled or something fails for good."""
    sweep("")
    apart = network_apart()
    async with unblocker(settings) as routes:
        runner = LocalRunner(allowed=settings.allowed_networks, apart=apart, unblocker=routes)

        def attempt_of(tools: Tools, _store: BlobStore) -> Attempt:
            return partial(attempts, tools.blobs, runner)

        await work(settings, KIND, attempt_of, providers_of or Providers)


if __name__ == "__main__":
    run(main)
