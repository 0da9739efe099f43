"""Providers by name."""

import pytest

from services.runtime.settings import Settings
from services.workers.providers.direct import DirectProvider
from services.workers.providers.registry import PROVIDER_NAMES, Providers

SETTINGS = Settings(kafka="", postgres="", registry="", blobs="")


async def test_every_name_has_a_provider_that_starts_and_closes() -> None:
    providers = Providers(SETTINGS)
    await providers.start()
    assert [type(providers.provider(name)) for name in PROVIDER_NAMES] == [DirectProvider]
    await providers.close()
    await providers.close()


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(KeyError, match="direct"):
        Providers(SETTINGS).provider("carrier-pigeon")
