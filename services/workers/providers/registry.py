"""Every provider by its name, as workflow documents call them."""

from collections.abc import Callable

from services.runtime.settings import Settings
from services.workers.providers.direct import DirectProvider
from services.workers.providers.protocol import Provider

_MAKERS: dict[str, Callable[[Settings], Provider]] = {"direct": DirectProvider.of}

PROVIDER_NAMES = tuple(_MAKERS)


class Providers:
    """The providers of one worker process; raises KeyError for a name that no saved workflow can have."""

    def __init__(self, settings: Settings) -> None:
        self._providers = {name: make(settings) for name, make in _MAKERS.items()}

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
            raise KeyError(f"no provider is called {name!r}: use {', '.join(PROVIDER_NAMES)}") from None
