"""Providers by name."""

import pytest

from services.ledger.provider_settings import PROVIDER_NAMES
from services.runtime.errors import SettingsError
from services.runtime.settings import Settings, settings_from
from services.workers.providers.api_call import ApiProvider
from services.workers.providers.direct import DirectProvider
from services.workers.providers.registry import DIALECTS, Providers
from tests.unit.providers.calls import MemoryCredentials

SETTINGS = Settings(kafka="", postgres="", registry="", blobs="")
ENVIRON = {f"JOBLEDGER_{name}": "" for name in ("KAFKA", "POSTGRES", "REGISTRY", "BLOBS")}


async def test_every_name_that_a_document_may_say_has_a_provider_that_starts_and_closes() -> None:
    providers = Providers(SETTINGS, MemoryCredentials())
    await providers.start()
    kinds = {name: type(providers.provider(name)) for name in PROVIDER_NAMES}
    assert kinds == {"direct": DirectProvider, **{dialect.name: ApiProvider for dialect in DIALECTS}}
    await providers.close()
    await providers.close()


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(KeyError, match="direct"):
        Providers(SETTINGS, MemoryCredentials()).provider("carrier-pigeon")


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_the_base_url_of_each_is_a_setting(dialect: object) -> None:
    key = f"JOBLEDGER_{getattr(dialect, 'name').upper()}_URL"  # noqa: B009
    given = settings_from({**ENVIRON, key: "http://127.0.0.1:9/below"})
    assert getattr(given, key.removeprefix("JOBLEDGER_").lower()) == "http://127.0.0.1:9/below"
    for bad in ("", "zyte.example", "ftp://a.example", "https://user:secret@a.example", "https://a.example?key=1"):
        with pytest.raises(SettingsError, match=key) as refused:
            settings_from({**ENVIRON, key: bad})
        assert "secret" not in str(refused.value)
