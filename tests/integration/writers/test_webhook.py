"""Endpoints in Postgres, as the webhook writer sees and changes them."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import msgspec
import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool

from api.config import webhooks
from api.config.reseal import reseal, seal_webhooks
from projections.postgres.endpoints import disable
from schemas.events import EndpointDisabled
from schemas.recorded import Recorded
from services.runtime.errors import Unsealable
from services.runtime.sealing import Sealer, new_key
from services.runtime.settings import Settings
from services.writers.webhook import endpoints as endpoints_module
from services.writers.webhook.endpoints import Endpoint, Pool, StoredEndpoints
from tests.event_streams import Stream

KEY = new_key()
URL = "https://customer.example/hook"


@pytest.fixture
async def pool(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pool]:
    """Connections to a database with one org; endpoints are looked up each time."""
    monkeypatch.setattr(endpoints_module, "KNOWN_SECONDS", 0.0)
    with psycopg.connect(settings.postgres) as connection:
        connection.execute(
            "INSERT INTO config.orgs (org_id, name, partition, plan, max_in_flight) VALUES ('acme', 'Acme', 0, 'p', 5)"
        )
    pool: Pool = AsyncConnectionPool(settings.postgres, min_size=1, max_size=2, open=False)
    async with pool:
        yield pool


async def made(pool: Pool, url: str = URL) -> tuple[str, str]:
    """Make an endpoint and return its id and secret."""
    found = await webhooks.create(pool, Sealer(KEY), "acme", url=url, event_types=(), gating=True, enabled=True)
    assert found is not None
    return found[0].webhook_id, found[1]


async def test_an_endpoint_is_found_with_its_secrets_newest_first_and_only_by_its_org(pool: Pool) -> None:
    stored = StoredEndpoints(pool, KEY)
    webhook_id, first = await made(pool)
    assert await stored.find(("acme", webhook_id)) == Endpoint(URL, True, [first])
    rotated = await webhooks.rotate(pool, Sealer(KEY), "acme", webhook_id)
    assert rotated is not None
    assert await stored.find(("acme", webhook_id)) == Endpoint(URL, True, [rotated[0], first])
    assert await stored.find(("rival", webhook_id)) is None


async def test_a_former_secret_that_has_expired_signs_no_more(pool: Pool, settings: Settings) -> None:
    webhook_id, _ = await made(pool)
    rotated = await webhooks.rotate(pool, Sealer(KEY), "acme", webhook_id)
    assert rotated is not None
    with psycopg.connect(settings.postgres) as connection:
        connection.execute("UPDATE config.webhook_secrets SET expires_at = now() WHERE expires_at IS NOT NULL")
    assert await StoredEndpoints(pool, KEY).find(("acme", webhook_id)) == Endpoint(URL, True, [rotated[0]])


def the_ledger_disables(settings: Settings, webhook_id: str, version: int, at: int = 1_800_000_000_000_000) -> None:
    """Let the read model fold that an endpoint is disabled."""
    event = EndpointDisabled(
        org_id="acme",
        webhook_id=webhook_id,
        reason="failing",
        first_failed_at=at - 5 * 86_400_000_000,
        error_type="http_503",
        endpoint_version=version,
    )
    header = Stream().open().events[0].header
    with psycopg.connect(settings.postgres) as connection:
        disable(connection, [Recorded(msgspec.structs.replace(header, occurred_at=at), event)])


async def test_an_endpoint_that_moved_is_not_disabled_for_what_its_former_url_said(
    pool: Pool, settings: Settings
) -> None:
    webhook_id, _ = await made(pool)
    await webhooks.change(pool, "acme", webhook_id, url=f"{URL}/new", event_types=None, gating=None, enabled=None)
    the_ledger_disables(settings, webhook_id, 1)
    found = await webhooks.find(pool, "acme", webhook_id)
    assert found is not None
    assert found.enabled


async def test_what_the_ledger_disabled_is_disabled_with_reason_and_date_and_stays_so_until_enabled(
    pool: Pool, settings: Settings
) -> None:
    webhook_id, _ = await made(pool)
    endpoint = await StoredEndpoints(pool, KEY).find(("acme", webhook_id))
    assert endpoint is not None
    the_ledger_disables(settings, webhook_id, endpoint.version)
    found = await webhooks.find(pool, "acme", webhook_id)
    assert found is not None
    assert not found.enabled
    assert found.disabled_reason == "nothing but failures since 2027-01-10 08:00 UTC, the last one http_503"
    assert found.disabled_at == datetime(2027, 1, 15, 8, tzinfo=UTC)
    again = await webhooks.change(pool, "acme", webhook_id, url=None, event_types=None, gating=None, enabled=True)
    assert again is not None
    assert (again.enabled, again.disabled_reason, again.disabled_at) == (True, None, None)
    the_ledger_disables(settings, webhook_id, endpoint.version)  # a rebuild folds it once more
    found = await webhooks.find(pool, "acme", webhook_id)
    assert found is not None
    assert found.enabled, "the version that its owner enabled is another one"
    newer = await StoredEndpoints(pool, KEY).find(("acme", webhook_id))
    assert newer is not None
    assert newer.version == endpoint.version + 1


async def test_another_url_is_another_version_and_the_same_one_is_not(pool: Pool) -> None:
    webhook_id, _ = await made(pool)
    stored, versions = StoredEndpoints(pool, KEY), []
    for url, enabled in ((URL, True), (f"{URL}/new", None), (None, False), (None, True)):
        await webhooks.change(pool, "acme", webhook_id, url=url, event_types=None, gating=None, enabled=enabled)
        found = await stored.find(("acme", webhook_id))
        assert found is not None
        versions.append(found.version)
    assert versions == [1, 2, 2, 3]


def test_a_secret_is_not_in_the_words_for_an_endpoint() -> None:
    assert "whsec_" not in repr(Endpoint(URL, True, ["whsec_secret"]))


async def test_secrets_are_sealed_for_their_endpoint_and_those_of_before_are_sealed_later(
    pool: Pool, settings: Settings
) -> None:
    webhook_id, secret = await made(pool)
    other, _ = await made(pool)
    with psycopg.connect(settings.postgres, autocommit=True) as connection:
        rows = connection.execute("SELECT secret, sealed FROM config.webhook_secrets").fetchall()
        assert all(clear is None and secret.encode() not in sealed for clear, sealed in rows)
        connection.execute("UPDATE config.webhook_secrets SET secret = 'whsec_b2xk', sealed = NULL")
        assert await StoredEndpoints(pool, "").find(("acme", webhook_id)) == Endpoint(URL, True, ["whsec_b2xk"])
        assert (seal_webhooks(settings.postgres, Sealer(KEY)), seal_webhooks(settings.postgres, Sealer(KEY))) == (2, 0)
        assert await StoredEndpoints(pool, KEY).find(("acme", webhook_id)) == Endpoint(URL, True, ["whsec_b2xk"])
        newest = new_key()
        assert reseal(settings.postgres, Sealer(f"{newest},{KEY}")) == 2
        assert await StoredEndpoints(pool, newest).find(("acme", webhook_id)) == Endpoint(URL, True, ["whsec_b2xk"])
        for key in (KEY, ""):
            with pytest.raises(Unsealable):
                await StoredEndpoints(pool, key).find(("acme", webhook_id))
        its = "SELECT sealed FROM config.webhook_secrets WHERE webhook_id = %s"
        connection.execute(f"UPDATE config.webhook_secrets SET sealed = ({its})", (other,))
        with pytest.raises(Unsealable, match="another webhook"):
            await StoredEndpoints(pool, newest).find(("acme", webhook_id))
