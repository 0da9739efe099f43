"""A worker whose provider is no network: `python -m bench.peers.stub_worker`. All else of it is as shipped."""

from urllib.parse import urlsplit

from services.cli.demo_pages import product_page
from services.runtime.process import run
from services.runtime.settings import Settings
from services.workers.__main__ import main
from services.workers.providers.protocol import Credentials, Fetched, FetchRequest, FetchResult, Provider
from services.workers.providers.registry import Providers


class Stub:
    """Answers every call at once with the page of a product."""

    async def start(self) -> None:
        """Nothing to open."""

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Return the page that the url names by its number."""
        number = int(urlsplit(request.url).path.rpartition("/")[2])
        return Fetched(200, "text/html; charset=utf-8", product_page(number).encode(), request.url, 0)

    async def close(self) -> None:
        """Nothing to close."""


class StubProviders(Providers):
    """The stub, whatever a workflow calls."""

    def __init__(self, settings: Settings, credentials: Credentials) -> None:
        super().__init__(settings, credentials)
        self._stub = Stub()

    def provider(self, name: str) -> Provider:
        """Return the stub."""
        return self._stub


async def with_stub(settings: Settings) -> None:
    """Run a worker."""
    await main(settings, StubProviders)


if __name__ == "__main__":
    run(with_stub)
