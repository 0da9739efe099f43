"""Jobs of the module `enrich`: the results of another job, as its chunks hold them, each with what its page says."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from services.runtime.item_chunks import rows_part
from services.workers.modules import recorder
from services.workers.modules.enrich import Enrich
from services.workers.modules.protocol import ModuleFailed, Outcome
from tests.unit.modules.shops import TITLE, bench, named
from tests.unit.modules.small import Count, Shop


@dataclass
class ResultsOf:
    """Results of the jobs of a shop, from the chunks that its ledger has recorded."""

    shop: Shop

    async def of(self, org_id: str, job_id: str) -> AsyncIterator[bytes]:
        """Yield them."""
        chunks = self.shop.chunks(job_id) if org_id == "acme" else []
        if not chunks:
            raise ModuleFailed(f"there is no job {job_id} with results: name one of your module jobs")
        for chunk in chunks:
            for row in rows_part(self.shop.blobs.blobs[chunk.items_ref], chunk.rows_bytes):
                yield row


async def test_the_results_of_a_job_are_planned_in_their_order_across_its_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recorder, "CHUNK_ITEMS", 3)
    shop = Shop(Count())
    shop.submit(items=10, failing=(1, 4))
    await shop.run()
    async with bench(Enrich(), {}, ResultsOf(shop)) as at:
        plan = await at.plan(job_id="j1", url_field="n", extract=TITLE)
    assert [value["row"] for value in plan] == [{"n": n} for n in (0, 2, 3, 5, 6, 7, 8, 9)]


async def test_a_job_that_has_no_results_fails_the_one_that_wants_them() -> None:
    async with bench(Enrich(), {}, ResultsOf(Shop())) as at:
        with pytest.raises(ModuleFailed, match="there is no job j9 with results"):
            await at.plan(job_id="j9", extract=TITLE)


async def test_each_result_gets_what_its_page_says_and_keeps_its_address() -> None:
    async with bench(Enrich(), {"/1": named("Lamp"), "/2": named("Chair")}) as at:
        rows = [{"sku": n, "url": f"{at.site.base}/{n}#part", "name": "?"} for n in (1, 2)]
        outcomes = await at.run([{"row": row} for row in rows], job_id="j1", extract=TITLE)
    assert outcomes == [
        Outcome(0, [{**rows[0], "name": "Lamp"}]),
        Outcome(1, [{**rows[1], "name": "Chair"}]),
    ]


async def test_a_field_that_is_called_url_is_a_field_as_any_other() -> None:
    extract = {"fields": [{"name": "url", "query": "h1"}]}
    async with bench(Enrich(), {"/1": named("Lamp")}) as at:
        row = {"link": f"{at.site.base}/1"}
        [outcome] = await at.run([{"row": row}], job_id="j1", url_field="link", extract=extract)
    assert list(outcome.rows) == [{**row, "url": "Lamp"}]


@pytest.mark.parametrize("url", [None, 7, ["http://a"], {"href": "http://a"}])
async def test_a_result_without_an_address_is_an_item_that_failed(url: object) -> None:
    async with bench(Enrich(), {}) as at:
        outcomes = await at.run([{"row": {"url": url}}, {"row": {}}], job_id="j1", extract=TITLE)
    assert [(each.number, each.error) for each in outcomes] == [(0, "no_url"), (1, "no_url")]


async def test_a_page_that_cannot_be_had_is_an_item_that_failed_and_the_others_go_on() -> None:
    async with bench(Enrich(), {"/1": named("Lamp")}) as at:
        urls = (f"{at.site.base}/gone", "no address", "file:///etc/hostname", f"{at.site.base}/1")
        outcomes = await at.run([{"row": {"url": url}} for url in urls], job_id="j1", extract=TITLE)
    assert [each.error for each in outcomes] == ["http_4xx", "bad_url", "bad_url", ""]
    assert [len(each.rows) for each in outcomes] == [0, 0, 0, 1]


async def test_a_page_of_several_items_makes_several_results_of_one() -> None:
    extract = {"items": {"query": "ul"}, "fields": [{"name": "name", "query": "li"}]}
    lists = named("Lamp").replace(b"<h1>Lamp</h1>", b"<ul><li>Lamp</li></ul><ul><li>Chair</li></ul>")
    async with bench(Enrich(), {"/1": lists}) as at:
        row = {"sku": 1, "url": f"{at.site.base}/1"}
        [outcome] = await at.run([{"row": row}], job_id="j1", extract=extract)
    assert list(outcome.rows) == [{**row, "name": "Lamp"}, {**row, "name": "Chair"}]
