"""Calls of a provider that stands behind a fake, with a credential from memory."""

from collections.abc import Mapping

from services.ledger.provider_settings import PROVIDERS
from services.ledger.workflow import ServiceSettings
from services.workers.providers.api_call import ApiProvider
from services.workers.providers.dialect import Dialect
from services.workers.providers.protocol import Fetched, FetchRequest, FetchResult, ProviderError
from services.workers.providers.registry import DIALECTS
from tests.fakes.providers.brightdata import FakeBrightData
from tests.fakes.providers.decodo import FakeDecodo
from tests.fakes.providers.frame import SECRETS, FakeProvider
from tests.fakes.providers.nimble import FakeNimble
from tests.fakes.providers.oxylabs import FakeOxylabs
from tests.fakes.providers.zyte import FakeZyte

MAX_BODY_BYTES = 200_000
ORG = "org-of-providers"
URL = "https://shop.example/lamp?a=1"
FAKES: tuple[type[FakeProvider], ...] = (FakeBrightData, FakeOxylabs, FakeNimble, FakeZyte, FakeDecodo)
BY_NAME: dict[str, Dialect] = {dialect.name: dialect for dialect in DIALECTS}


class MemoryCredentials:
    """One org's credentials; notes what was looked up and what was forgotten."""

    def __init__(self, secrets: Mapping[str, str] | ProviderError = SECRETS) -> None:
        self.secrets = secrets
        self.forgotten: list[tuple[str, str]] = []
        self.looked_up: list[tuple[str, str]] = []

    async def secret(self, org_id: str, provider: str) -> Mapping[str, str] | ProviderError:
        """Return the fields that the provider wants."""
        self.looked_up.append((org_id, provider))
        if isinstance(self.secrets, ProviderError):
            return self.secrets
        return {name: self.secrets[name] for name in PROVIDERS[provider].credential}

    def forget(self, org_id: str, provider: str) -> None:
        """Note it."""
        self.forgotten.append((org_id, provider))


async def called(
    fake: FakeProvider,
    base_url: str,
    *,
    url: str = URL,
    credentials: MemoryCredentials | None = None,
    settings: ServiceSettings | None = None,
) -> FetchResult:
    """Fetch one page through a provider of its own."""
    provider = ApiProvider(
        BY_NAME[fake.name], base_url, credentials or MemoryCredentials(), max_body_bytes=MAX_BODY_BYTES
    )
    await provider.start()
    try:
        return await provider.fetch(FetchRequest(url, settings or ServiceSettings(provider=fake.name), "j", ORG))
    finally:
        await provider.close()


async def asked_by(fake: FakeProvider, settings: ServiceSettings) -> tuple[dict[str, object], Fetched]:
    """Fetch a page as a node asks; return what the fake was asked, and the page."""
    async with fake.serving() as base_url:
        result = await called(fake, base_url, settings=settings)
    assert isinstance(result, Fetched), result
    [asked] = fake.asked
    return asked, result
