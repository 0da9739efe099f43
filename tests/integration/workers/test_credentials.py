"""Credentials as workers read them from Postgres."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import psycopg
import pytest

from services.runtime.errors import CredentialsAway
from services.runtime.kept_secrets import Owner, sealed_for
from services.runtime.sealing import Sealer, new_key
from services.runtime.settings import Settings
from services.workers import config_rows
from services.workers import credentials as module
from services.workers.credentials import StoredCredentials
from services.workers.providers.protocol import ProviderError

Save = Callable[[str], None]


@pytest.fixture
def keyed(settings: Settings) -> Settings:
    """Settings with a key."""
    return replace(settings, credentials_key=new_key())


@pytest.fixture
def save(keyed: Settings) -> Save:
    """Save a credential of the org `acme` at Zyte, or replace it."""
    with psycopg.connect(keyed.postgres, autocommit=True) as connection:
        connection.execute("INSERT INTO config.orgs VALUES ('acme', 'Acme', 0, 'standard', 5)")

    def saved(api_key: str) -> None:
        sealed, fingerprint = sealed_for(
            Sealer(keyed.credentials_key), Owner("provider", "acme", "zyte"), {"apiKey": api_key}
        )
        with psycopg.connect(keyed.postgres, autocommit=True) as connection:
            connection.execute("DELETE FROM config.provider_credentials")
            connection.execute(
                "INSERT INTO config.provider_credentials VALUES ('acme', 'zyte', '', %s, %s)", (sealed, fingerprint)
            )

    return saved


@pytest.fixture
async def credentials(keyed: Settings) -> AsyncIterator[StoredCredentials]:
    """The credentials under test."""
    found = StoredCredentials(keyed)
    await found.start()
    yield found
    await found.close()


async def test_a_credential_is_found_and_known_until_it_is_forgotten(
    credentials: StoredCredentials, save: Save
) -> None:
    save("first")
    assert await credentials.secret("acme", "zyte") == {"apiKey": "first"}
    save("second")
    assert await credentials.secret("acme", "zyte") == {"apiKey": "first"}
    credentials.forget("acme", "zyte")
    assert await credentials.secret("acme", "zyte") == {"apiKey": "second"}


async def test_a_replaced_credential_is_out_of_use_when_its_time_is_up(
    credentials: StoredCredentials, save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KNOWN_SECONDS", 0.0)
    for api_key in ("first", "second"):
        save(api_key)
        assert await credentials.secret("acme", "zyte") == {"apiKey": api_key}


async def test_none_is_named_and_looked_for_again(credentials: StoredCredentials, save: Save) -> None:
    missing = await credentials.secret("acme", "zyte")
    assert isinstance(missing, ProviderError)
    assert (missing.error_type, missing.retryable) == ("credential_missing", False)
    assert "zyte" in missing.message
    save("late")
    assert await credentials.secret("acme", "zyte") == {"apiKey": "late"}
    other = await credentials.secret("acme", "decodo")
    assert isinstance(other, ProviderError)


@pytest.mark.parametrize("key", ["", new_key()], ids=["none", "another"])
async def test_without_the_key_it_cannot_be_read(keyed: Settings, save: Save, key: str) -> None:
    save("sealed")
    credentials = StoredCredentials(replace(keyed, credentials_key=key))
    await credentials.start()
    try:
        found = await credentials.secret("acme", "zyte")
    finally:
        await credentials.close()
    assert isinstance(found, ProviderError)
    assert (found.error_type, found.retryable) == ("credential_unreadable", False)


async def test_a_store_that_does_not_answer_is_no_failure_of_a_provider(
    keyed: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config_rows, "POOL_SECONDS", 0.2)
    credentials = StoredCredentials(replace(keyed, postgres="postgresql://u:s3cr3t@127.0.0.1:9/none"))
    await credentials.start()
    try:
        with pytest.raises(CredentialsAway) as away:
            await credentials.secret("acme", "zyte")
    finally:
        await credentials.close()
    assert "s3cr3t" not in str(away.value)
    assert away.value.__cause__ is None
