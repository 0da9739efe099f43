"""Which generations a replay of webhooks asks for, kept so that its repeats ask for the same ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from api.config.store import Pool, execute, row, transaction

Place = tuple[str, str, int]  # job, destination, generation


@dataclass(frozen=True, slots=True)
class Replay:
    """A row of config.webhook_replays; `plan` is JSON."""

    body_digest: bytes
    plan: str
    next_cursor: str | None

    def places(self) -> list[Place]:
        """Return what is asked for."""
        return msgspec.json.decode(self.plan, type=list[Place])


async def find(pool: Pool, org_id: str, webhook_id: str, key_digest: bytes) -> Replay | None:
    """Return what came with a key before, or None."""
    name = {"org_id": org_id, "webhook_id": webhook_id, "key_digest": key_digest}
    async with pool.connection() as connection:
        return await row(connection, Replay, "replay", name)


async def keep(
    pool: Pool,
    org_id: str,
    webhook_id: str,
    key_digest: bytes,
    *,
    body_digest: bytes,
    places: Sequence[Place],
    next_cursor: str | None,
    seconds: float,
) -> Replay:
    """Keep a plan for so long, unless one came with the key meanwhile; return the one that holds."""
    name = {"org_id": org_id, "webhook_id": webhook_id, "key_digest": key_digest}
    plan = {"body_digest": body_digest, "plan": msgspec.json.encode(places).decode(), "next_cursor": next_cursor}
    async with transaction(pool) as connection:
        await execute(connection, "forget_replays", {"seconds": seconds})
        await execute(connection, "keep_replay", {**name, **plan})
        kept = await row(connection, Replay, "replay", name)
    assert kept
    return kept
