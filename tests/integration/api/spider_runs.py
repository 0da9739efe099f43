"""A runner of spiders for tests of the API: it stores real chunks and lines, and tells the pocket ledger of them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import psycopg_pool

from api.config import deploys, projects
from api.config.deploys import Archive
from api.config.store import Pool
from schemas.private import private_bytes
from services.ledger.items import Items
from services.ledger.reports import Chunk, Extracted, Failed, Logged, Stats
from services.runtime.blob import BlobStore
from services.runtime.item_chunks import chunk_key, log_key, packed, packed_lines
from services.runtime.settings import Settings
from tests.integration.api.conftest import Answered, Api, Tenant
from tests.integration.api.pocket import PocketLedger

LEVELS = ("debug", "info", "warning", "error", "critical")
SHOP: dict[str, Any] = {"project": "shop", "spiders": ["books"]}


@asynccontextmanager
async def config(settings: Settings) -> AsyncIterator[Pool]:
    """Lend connections to the config schema."""
    pool: Pool = psycopg_pool.AsyncConnectionPool(settings.postgres, min_size=1, max_size=1, open=False)
    async with pool:
        yield pool


async def add_project(settings: Settings, org_id: str, project: str = "shop") -> None:
    """Make a project."""
    async with config(settings) as pool:
        await projects.add(pool, org_id, project, project.title())


async def deploy(settings: Settings, org_id: str, *spiders: str, project: str = "shop", digest: str = "0") -> int:
    """Make a project where there is none, and deploy it with these spiders; return the version."""
    await add_project(settings, org_id, project)
    async with config(settings) as pool:
        archive = Archive(f"deploys/{org_id}/{digest}", digest * 64, 10, list(spiders) or ["books"])
        made = await deploys.add(pool, org_id, project, archive, "test", "")
        assert made
        return made[0].version


async def submit_spiders(api: Api, tenant: Tenant, *spiders: str, **more: Any) -> str:
    """Submit a job of these spiders of the shop and return its key."""
    made = await api.call("POST", "/spider/jobs", tenant.key, {**SHOP, "spiders": list(spiders) or ["books"], **more})
    assert made.status == 201, made.json
    return str(made.json["key"])


async def read(api: Api, tenant: Tenant, key: str, part: str = "", **query: Any) -> Answered:
    """Read a spider job, or a part of it."""
    return await api.call("GET", f"/spider/jobs/{key}{part}", tenant.key, params=query)


class SpiderRunner:
    """Runs spider jobs of one tenant."""

    def __init__(self, pocket: PocketLedger, settings: Settings, tenant: Tenant) -> None:
        self._pocket, self._tenant = pocket, tenant
        self.blobs = BlobStore(settings.blobs)

    def begin(self, key: str) -> None:
        """Claim a job."""
        self._pocket.run(self._tenant.partition, self._tenant.org_id, key)

    async def scrape(self, key: str, *rows: Any) -> None:
        """Record a chunk of items."""
        come = self._come(key)
        parts = packed([msgspec.json.encode(row) for row in rows], [], b"")
        place = chunk_key(self._tenant.org_id, key, 1, 1, come.chunks)
        await self.blobs.put(place, parts.data)
        chunk = Chunk(
            chunk=come.chunks,
            items_ref=place,
            rows_bytes=parts.rows_bytes,
            outcomes_bytes=0,
            stats_bytes=0,
            digest=parts.digest,
            first_item=come.rows,
            next_item=come.rows + len(rows),
            rows=len(rows),
            errors=0,
            resume_item=come.rows + len(rows),
        )
        self._tell(key, chunk)

    def count(self, key: str, scraped: int, *, final: bool = False, **stats: Any) -> None:
        """Record statistics."""
        dump = {"item_scraped_count": scraped, **stats}
        self._tell(key, Stats(number=self._come(key).stats, scraped=scraped, final=final, private=private_bytes(dump)))

    async def log(self, key: str, *lines: dict[str, Any], stored: bool = True) -> None:
        """Record lines, in a blob unless said otherwise."""
        number = self._come(key).logged
        levels = tuple(sum(line["level"] == level for line in lines) for level in LEVELS)
        if not stored:
            self._tell(
                key,
                Logged(number=number, lines=len(lines), private=private_bytes({"lines": lines}), levels=levels),
            )
            return
        place = log_key(self._tenant.org_id, key, 1, number)
        data = packed_lines(map(msgspec.json.encode, lines))
        await self.blobs.put(place, data)
        self._tell(
            key,
            Logged(
                number=number,
                lines=len(lines),
                private=b"",
                lines_ref=place,
                lines_bytes=len(data),
                levels=levels,
            ),
        )

    def finish(self, key: str, items: int) -> None:
        """End a job well."""
        done = Extracted(result_ref="", items=items)
        self._pocket.finish(self._tenant.partition, self._tenant.org_id, key, done)

    def fail(self, key: str, error_type: str, message: str = "") -> None:
        """End a job badly."""
        private = private_bytes({"message": message}) if message else b""
        failed = Failed(error_type=error_type, private=private)
        self._pocket.finish(self._tenant.partition, self._tenant.org_id, key, failed)

    def _come(self, key: str) -> Items:
        return self._pocket.job(self._tenant.partition, key).items or Items(chain_id=key)

    def _tell(self, key: str, part: Chunk | Stats | Logged) -> None:
        self._pocket.report(self._tenant.partition, self._tenant.org_id, key, items=(part,))


def line(message: str, level: str = "info") -> dict[str, Any]:
    """A line as a runner sends it."""
    return {"level": level, "message": message, "timestamp": "2026-01-01T00:00:00Z", "logger": "books"}


def rows(count: int, first: int = 0) -> Sequence[dict[str, int]]:
    """Items that tell themselves apart."""
    return [{"n": number} for number in range(first, first + count)]
