"""The keys of jobs as processes with an event loop read, make and forget them."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import psycopg
import psycopg_pool
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from services.runtime.errors import KeysAway, Unsealable
from services.runtime.kept_secrets import Owner
from services.runtime.settings import Settings
from services.runtime.shredding.codec import JobKey, sealed
from services.runtime.shredding.rows import SQL, arrays
from services.runtime.shredding.vault import OrgKey, Vault, new_job_key, new_key_id

MAX_CONNECTIONS = 2
POOL_SECONDS = 5.0
AWAY = "Postgres, where the keys of jobs are kept, does not answer"
Pool = AsyncConnectionPool[AsyncConnection[Any]]


class JobKeys:
    """Every method raises KeysAway while Postgres does not answer, or where this process may not open the keys."""

    def __init__(self, pool: Pool, vault: Vault) -> None:
        self._pool = pool
        self._vault = vault
        self._newest: dict[str, OrgKey] = {}

    @property
    def usable(self) -> bool:
        """Whether this process can make and open keys at all."""
        return bool(self._vault)

    def secret(self, owner: Owner, sealed: bytes) -> dict[str, Any]:
        """Open what is secret of something that is no job, or raise Unsealable."""
        return self._vault.secret(owner, sealed)

    async def of(self, jobs: Collection[JobKey]) -> dict[JobKey, bytes]:
        """Return the keys of those of these jobs that have one, by one query; none for no jobs."""
        if not jobs:
            return {}
        async with self._connection() as connection:
            rows = await (await connection.execute(SQL["keys_of_jobs"], arrays(jobs))).fetchall()
            return self._vault.opened(rows)

    async def org_key(self, org_id: str) -> OrgKey:
        """Return the newest key of an org that has erasure; the same object until it turns out to be gone."""
        if org_id not in self._newest:
            async with self._connection() as connection:
                row = await (await connection.execute(SQL["newest_org_key"], {"org_id": org_id})).fetchone()
                if row is None:
                    raise KeysAway(f"org {org_id} has erasure and no key: it was destroyed")
                self._newest[org_id] = self._vault.org_key(org_id, row[0], bytes(row[1]))
        return self._newest[org_id]

    async def seal(self, org_key: OrgKey, private: Mapping[str, bytes]) -> dict[str, bytes]:
        """Make and save a key for each new job of an org, and return their private bytes sealed; by one statement.

        A job that has a key already, since whoever submits it does so again, keeps that.
        """
        org_id = org_key.org_id
        keys = {job_id: new_job_key() for job_id in private}
        values = {
            "org_id": org_id,
            "key_id": org_key.key_id,
            "jobs": list(keys),
            "sealed": [org_key.sealed_job_key((org_id, job_id), key) for job_id, key in keys.items()],
        }
        async with self._connection() as connection:
            rows = await (await connection.execute(SQL["save_job_keys"], values)).fetchall()
        if len(rows) != len(keys):
            kept = await self._kept([(org_id, job_id) for job_id in keys.keys() - {job_id for (job_id,) in rows}])
            keys |= {job_id: key for (_, job_id), key in kept.items()}
            if len(rows) + len(kept) != len(keys):
                self._newest.pop(org_id, None)
                raise KeysAway(f"the key of org {org_id} was destroyed or replaced meanwhile: repeat the request")
        return {job_id: sealed(private[job_id], key, (org_id, job_id)) for job_id, key in keys.items()}

    async def _kept(self, jobs: Collection[JobKey]) -> dict[JobKey, bytes]:
        """Return keys that are there, once nobody can take them for leftovers any more."""
        async with self._connection() as connection:
            await connection.execute(SQL["touch"], arrays(jobs))
        return await self.of(jobs)

    async def forget(self, jobs: Collection[JobKey]) -> None:
        """Destroy the keys of jobs that did not come to be."""
        async with self._connection() as connection:
            await connection.execute(SQL["destroy"], arrays(jobs))

    async def with_erasure(self, orgs: Sequence[str]) -> set[str]:
        """Return those of these orgs that have, or had, erasure."""
        async with self._connection() as connection:
            rows = await (await connection.execute(SQL["sealing_orgs"], {"orgs": list(orgs)})).fetchall()
        return {org_id for (org_id,) in rows}

    async def turn(self, org_id: str, *, on: bool) -> None:
        """Say whether the jobs that an org submits from now on are sealed; its first key is made with that."""
        async with self._connection() as connection, connection.transaction():
            if on:
                number = new_key_id()
                key = {"org_id": org_id, "key_id": number, "sealed": self._vault.new_org_key(org_id, number)}
                await connection.execute(SQL["save_org_key"], key)
            await connection.execute(SQL["save_org"], {"org_id": org_id, "erasure": on})

    async def turned(self, org_id: str) -> tuple[bool, datetime | None]:
        """Return whether an org has erasure, and since when that is so; None: it never had."""
        async with self._connection() as connection:
            row = await (await connection.execute(SQL["org"], {"org_id": org_id})).fetchone()
        return (row[0], row[1]) if row else (False, None)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        try:
            async with self._pool.connection() as connection:
                yield connection
        except (psycopg.Error, psycopg_pool.PoolTimeout):
            raise KeysAway(AWAY) from None  # what Postgres says may quote the connection string
        except Unsealable as error:
            raise KeysAway(str(error)) from None


@asynccontextmanager
async def job_keys(settings: Settings) -> AsyncIterator[JobKeys]:
    """Lend the keys to a process without a pool of its own; it connects with the first look at them."""
    pool: Pool = AsyncConnectionPool(
        settings.postgres, min_size=0, max_size=MAX_CONNECTIONS, open=False, timeout=POOL_SECONDS
    )
    async with pool:
        yield JobKeys(pool, Vault(settings.credentials_key))
