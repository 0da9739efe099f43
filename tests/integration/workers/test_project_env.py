"""The environment of a Scrapy project as workers read it from Postgres."""

from dataclasses import replace

import psycopg
import pytest

from services.runtime.errors import CredentialsAway, Unsealable
from services.runtime.kept_secrets import Owner, sealed_for
from services.runtime.sealing import Sealer, new_key
from services.runtime.settings import Settings
from services.workers import config_rows
from services.workers.project_env import StoredProjectEnv


@pytest.fixture
def keyed(settings: Settings) -> Settings:
    """Settings with a key, and two projects of acme, one of which has an environment."""
    keyed = replace(settings, credentials_key=new_key())
    kept = {"env": {"SHOP_TOKEN": "s3cr3t"}, "repo_token": "other"}
    sealed, _ = sealed_for(Sealer(keyed.credentials_key), Owner("project", "acme", "shop"), kept)
    with psycopg.connect(keyed.postgres, autocommit=True) as connection:
        connection.execute("INSERT INTO config.orgs VALUES ('acme', 'Acme', 0, 'standard', 5)")
        insert = "INSERT INTO config.spider_projects (org_id, project, name, sealed) VALUES ('acme', %s, 'n', %s)"
        connection.execute(insert, ("shop", sealed))
        connection.execute(insert, ("bare", None))
        connection.execute(insert, ("other", sealed))  # a row that was copied from another one
    return keyed


async def env_of(settings: Settings, project: str) -> dict[str, str]:
    """Return what a worker finds."""
    found = StoredProjectEnv(settings)
    await found.start()
    try:
        return await found.of("acme", project)
    finally:
        await found.close()


async def test_a_project_has_its_variables_and_not_its_token(keyed: Settings) -> None:
    assert await env_of(keyed, "shop") == {"SHOP_TOKEN": "s3cr3t"}


@pytest.mark.parametrize("project", ["bare", "gone"])
async def test_a_project_without_any_or_that_was_deleted_has_none(keyed: Settings, project: str) -> None:
    assert await env_of(keyed, project) == {}


async def test_what_is_another_projects_or_cannot_be_opened_is_not_used(keyed: Settings) -> None:
    with pytest.raises(Unsealable, match="another project"):
        await env_of(keyed, "other")
    for key in (new_key(), ""):
        with pytest.raises(Unsealable, match="JOBLEDGER_CREDENTIALS_KEY"):
            await env_of(replace(keyed, credentials_key=key), "shop")


async def test_a_store_that_is_away_is_told_as_such(keyed: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_rows, "POOL_SECONDS", 0.2)
    with pytest.raises(CredentialsAway):
        await env_of(replace(keyed, postgres="postgresql://u:p@127.0.0.1:9/none"), "shop")
