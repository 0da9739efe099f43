"""A worker process for workflow jobs: `python -m services.workers`."""

from services.runtime.blob import BlobStore
from services.runtime.process import run
from services.runtime.settings import Settings
from services.workers.attempt import attempt
from services.workers.executor import Attempt
from services.workers.process import ProvidersOf, work
from services.workers.providers.registry import Providers
from services.workers.steps import Tools
from services.workers.workflows import Workflows

KIND = "workflow"


async def main(settings: Settings, providers_of: ProvidersOf | None = None) -> None:
    """Run one worker until it is cancelled or something fails for good."""
    await work(settings, KIND, _walks, providers_of or Providers)


def _walks(tools: Tools, store: BlobStore) -> Attempt:
    workflows = Workflows(store)
    return lambda task, granted: attempt(tools, workflows, task, granted)


if __name__ == "__main__":
    run(main)
