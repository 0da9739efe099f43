"""A worker process for module jobs: `python -m services.workers.modules`."""

from functools import partial

from services.runtime.blob import BlobStore
from services.runtime.process import run
from services.runtime.settings import Settings
from services.runtime.store_watch import watch_postgres
from services.workers.executor import Attempt
from services.workers.modules.attempt import attempts
from services.workers.modules.registry import modules
from services.workers.modules.stored import StoredItems
from services.workers.process import ProvidersOf, work
from services.workers.providers.registry import Providers
from services.workers.steps import Tools

KIND = "module"


async def main(settings: Settings, providers_of: ProvidersOf | None = None) -> None:
    """Run one worker until it is cancelled or something fails for good."""
    known = modules()

    def attempt_of(tools: Tools, store: BlobStore) -> Attempt:
        return partial(attempts, tools, StoredItems(settings.postgres, store), known)

    stores = {"postgres-server": partial(watch_postgres, settings.postgres)}
    await work(settings, KIND, attempt_of, providers_of or Providers, stores)


if __name__ == "__main__":
    run(main)
