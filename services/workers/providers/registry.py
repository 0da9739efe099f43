"""Every provider by its name, as workflow documents call them."""

from services.runtime.settings import Settings
from services.workers.providers.api_call import ApiProvider
from services.workers.providers.brightdata import BrightData
from services.workers.providers.decodo import Decodo
from services.workers.providers.dialect import Dialect
from services.workers.providers.direct import DirectProvider
from services.workers.providers.nimble import Nimble
from services.workers.providers.oxylabs import Oxylabs
from services.workers.providers.protocol import Credentials, Provider
from services.workers.providers.zyte import Zyte

DIALECTS: tuple[Dialect, ...] = (BrightData(), Oxylabs(), Nimble(), Zyte(), Decodo())


class Providers:
    """The providers of one worker process; raises KeyError for a name that no saved workflow can have."""

    def __init__(self, settings: Settings, credentials: Credentials) -> None:
        self._providers: dict[str, Provider] = {"direct": DirectProvider.of(settings)}
        for dialect in DIALECTS:
            base_url: str = getattr(settings, f"{dialect.name}_url")
            self._providers[dialect.name] = ApiProvider(
                dialect, base_url, credentials, max_body_bytes=settings.max_body_bytes
            )

    async def start(self) -> None:
        """Start every provider."""
        for provider in self._providers.values():
            await provider.start()

    async def close(self) -> None:
        """Close every provider."""
        for provider in self._providers.values():
            await provider.close()

    def provider(self, name: str) -> Provider:
        """Return a provider by its name."""
        try:
            return self._providers[name]
        except KeyError:
            raise KeyError(f"no provider is called {name!r}: use {', '.join(self._providers)}") from None
