"""A download takes as much memory as a chunk, however many there are: of items, packed or not, and of the log."""

import os
import tracemalloc

import pytest

from services.runtime.settings import Settings
from tests.integration.api.conftest import Api, Tenant
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.spider_runs import SpiderRunner, deploy, line, submit_spiders

PART_ROWS, ROW_BYTES = 500, 1024  # half a MiB in each part, which no packing makes less
FEW, MANY = 4, 40  # parts


async def ended(api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner, parts: int) -> str:
    """A job with so many chunks of items, and bundles of lines."""
    key = await submit_spiders(api, acme)
    runner.begin(key)
    for _ in range(parts):
        await runner.scrape(key, *({"said": os.urandom(ROW_BYTES // 2).hex()} for _ in range(PART_ROWS)))
        await runner.log(key, *(line(os.urandom(ROW_BYTES // 2).hex()) for _ in range(PART_ROWS)))
    runner.finish(key, parts * PART_ROWS)
    pocket.project()
    return key


async def most_held(api: Api, acme: Tenant, path: str) -> tuple[int, int]:
    """Return how many bytes a download has, and how many were held at once on its way."""
    size = 0
    tracemalloc.start()
    try:
        headers = {"Authorization": f"Bearer {acme.key}"}
        async with api.session.get(f"{api.url}/spider/jobs/{path}", headers=headers) as answer:
            assert answer.status == 200
            async for data in answer.content.iter_chunked(65536):
                size += len(data)
        return size, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("download", ["items/download?format=jsonl", "items/download?format=gz", "logs/download"])
async def test_ten_times_as_much_takes_no_more_memory(
    api: Api, acme: Tenant, pocket: PocketLedger, with_operator: Settings, download: str
) -> None:
    await deploy(with_operator, acme.org_id)
    runner = SpiderRunner(pocket, with_operator, acme)
    few, many = [await ended(api, acme, pocket, runner, parts) for parts in (FEW, MANY)]
    await most_held(api, acme, f"{few}/{download}")  # what is loaded once
    size, held = await most_held(api, acme, f"{few}/{download}")
    larger, most = await most_held(api, acme, f"{many}/{download}")
    assert larger > 5 * size
    assert most < 1.5 * held + ROW_BYTES * PART_ROWS, (held, most)
