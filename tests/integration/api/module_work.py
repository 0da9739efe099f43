"""A worker of modules for tests of the API: it stores real chunks, and tells the pocket ledger of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from services.ledger.items import Items
from services.ledger.reports import Extracted, Failed, Planned
from services.runtime.blob import BlobStore
from services.runtime.item_chunks import chunk_key, packed_lines, plan_key, stats_part
from services.runtime.settings import Settings
from services.workers.modules.protocol import Item, Outcome
from services.workers.modules.recorder import Recorder, beginning
from services.workers.modules.stats import decoded
from tests.integration.api.conftest import Answered, Api, Tenant
from tests.integration.api.pocket import PocketLedger

FIELDS = [{"name": "name", "query": "h1"}]
SCRAP: dict[str, Any] = {
    "queries": ["lamp", "desk", "void"],
    "zones": ["berlin", "rome"],
    "url_template": "https://shop.example/{zone}/{query}",
    "extract": {"fields": FIELDS},
}
PLAN = [{"query": query, "zone": zone} for zone in SCRAP["zones"] for query in SCRAP["queries"]]


async def submit_scrap(api: Api, tenant: Tenant, **more: Any) -> str:
    """Submit a `scrap` job of six items and return its id."""
    made = await api.call("POST", "/api/jobs", tenant.key, SCRAP | more)
    assert made.status == 201, made.json
    return str(made.json["id"])


async def read(api: Api, tenant: Tenant, job_id: str, part: str = "", **query: Any) -> Answered:
    """Read a module job, or a part of it."""
    return await api.call("GET", f"/api/jobs/{job_id}{part}", tenant.key, params=query)


class ModuleWorker:
    """Works at module jobs of one tenant."""

    def __init__(self, pocket: PocketLedger, settings: Settings, tenant: Tenant) -> None:
        self._pocket, self._tenant = pocket, tenant
        self._blobs = BlobStore(settings.blobs)

    async def begin(self, job_id: str, plan: Sequence[Mapping[str, Any]] = PLAN) -> None:
        """Claim a job, and plan its items unless the job before it did."""
        self._pocket.run(self._tenant.partition, self._tenant.org_id, job_id)
        if self._come(job_id).plan_ref:
            return
        key = plan_key(self._tenant.org_id, job_id, 1, 1)
        data = packed_lines(map(msgspec.json.encode, plan))
        await self._blobs.put(key, data)
        self._tell(job_id, Planned(plan_ref=key, planned=len(plan), plan_bytes=len(data)))

    async def record(self, job_id: str, *works: bool, plan: Sequence[Mapping[str, Any]] = PLAN) -> None:
        """Record a chunk of the items that come next: each gives one result, or errors."""
        come = self._come(job_id)
        kept = decoded(b"")
        if come.newest_ref:
            data = await self._blobs.get(come.newest_ref)
            kept = decoded(stats_part(data, come.newest_stats_bytes))
        items = [Item(number, value) for number, value in enumerate(plan)][come.next_item :]
        recorder = Recorder(come, items, beginning(kept, goes_on_from_another=not come.chunks))
        for item, succeeds in zip(items, works, strict=False):
            rows = [{"n": item.number, **item.value}] if succeeds else []
            recorder.add(Outcome(item.number, rows, error="" if succeeds else "http_4xx"))
        full = recorder.take()
        key = chunk_key(self._tenant.org_id, come.chain_id, come.link, 1, full.told.chunk)
        await self._blobs.put(key, full.packed.data)
        self._tell(job_id, full.report(key))

    def done(self, job_id: str) -> None:
        """End a job well."""
        self._pocket.finish(self._tenant.partition, self._tenant.org_id, job_id, Extracted(result_ref=""))

    def fail(self, job_id: str, message: bytes = b'{"message":"broken here"}') -> None:
        """End a job badly."""
        failed = Failed(error_type="module_failed", private=b"\0" + message)
        self._pocket.finish(self._tenant.partition, self._tenant.org_id, job_id, failed)

    def _come(self, job_id: str) -> Items:
        return self._pocket.job(self._tenant.partition, job_id).items or Items(chain_id=job_id)

    def _tell(self, job_id: str, *parts: Any) -> None:
        self._pocket.report(self._tenant.partition, self._tenant.org_id, job_id, items=parts)
