"""Attempts at module jobs against the rules of the ledger: nothing is lost and nothing done twice, whatever dies."""

import asyncio
import random

import pytest

from schemas.events import ItemsRecorded, JobFailed
from schemas.private import private_json
from services.ledger.status import Status
from services.runtime.errors import BlobFault
from services.runtime.item_chunks import stats_part
from services.workers.extract.size import chars_of
from services.workers.modules import attempt, recorder
from services.workers.modules.protocol import Limits
from services.workers.modules.stats import decoded
from tests.unit.ledger.modules import code, items, resume
from tests.unit.ledger.world import names
from tests.unit.modules.small import Count, Shop
from tests.unit.workers.fakes import MemoryBlobs


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk of three items."""
    monkeypatch.setattr(recorder, "CHUNK_ITEMS", 3)


async def test_a_job_is_planned_done_and_completed_with_every_result_in_order() -> None:
    shop = Shop()
    shop.submit(items=10)
    told = names(await shop.run())
    assert told[:2] == ["ItemsPlanned", "ItemsRecorded"]
    assert told[-2:] == ["JobExtracted", "JobCompleted"]
    assert shop.numbers() == list(range(10))
    assert names(told_events := [each.event for each in shop.world.seen]).count("ItemsRecorded") == 4
    assert any(type(event).__name__ == "JobLogged" for event in told_events)


async def test_49_items_that_failed_and_one_that_was_never_started_each_have_their_outcome() -> None:
    shop = Shop()
    shop.submit(items=10, failing=(1, 4, 9), skipped=(6,))
    await shop.run()
    assert shop.world.status() is Status.COMPLETED
    assert (items(shop.world).errors, items(shop.world).rows, items(shop.world).planned) == (4, 6, 10)
    outcomes = shop.outcomes()
    assert [each["item"] for each in outcomes] == list(range(10))
    assert [each["item"] for each in outcomes if each["outcome"] == "failed"] == [1, 4, 6, 9]
    assert [each["error"] for each in outcomes if "error" in each] == [
        "http_4xx",
        "http_4xx",
        "not_started",
        "http_4xx",
    ]


async def test_items_that_were_never_started_at_the_end_have_their_outcome_too() -> None:
    shop = Shop()
    shop.submit(items=10, skipped=(7, 8, 9))
    await shop.run()
    assert (items(shop.world).next_item, items(shop.world).errors) == (10, 3)


async def test_the_next_attempt_goes_on_behind_the_last_chunk_that_was_recorded() -> None:
    shop = Shop()
    shop.submit(items=10)
    await shop.run(reports=3)  # the plan and two chunks
    shop.lose()
    module = shop.module
    assert isinstance(module, Count)
    module.worked_at.clear()
    await shop.run()
    assert module.worked_at == [6, 7, 8, 9]
    assert shop.numbers() == list(range(10))


async def test_a_chunk_that_was_stored_and_never_told_is_done_again_and_counts_once() -> None:
    shop = Shop()
    shop.submit(items=10)
    await shop.run(reports=3, lose_last=True)
    shop.lose()
    await shop.run()
    assert shop.numbers() == list(range(10))


async def test_whatever_dies_when_each_item_has_one_outcome_and_a_chain_no_gap() -> None:
    for seed in range(60):
        chance = random.Random(seed)
        failing = tuple(sorted(chance.sample(range(30), chance.randrange(10))))
        shop = Shop()
        shop.submit(items=30, failing=failing)
        job = "j1"
        while shop.world.status(job) is not Status.COMPLETED:
            await shop.run(job, chance.randrange(1, 6), lose_last=chance.random() < 0.3)
            if shop.world.status(job) is Status.COMPLETED:
                break
            if chance.random() < 0.5:
                shop.lose()
            else:
                shop.world.cancel(job)
            if shop.world.job(job).terminal:  # cancelled, or its worker was lost too often
                following = f"{job}+"
                resume(shop.world, following, job)
                assert code(shop.world) == ""
                job = following
        assert shop.numbers(job) == [number for number in range(30) if number not in failing], seed
        assert (items(shop.world, job).errors, items(shop.world, job).next_item) == (len(failing), 30), seed
        newest = shop.chunks(job)[-1]
        stats = decoded(stats_part(shop.blobs.blobs[newest.items_ref], newest.stats_bytes)).now
        assert sum(each.processed for each in stats.by_query.values()) == 30, seed
        assert sum(each.errors for each in stats.by_zone.values()) == len(failing), seed


async def test_a_resumed_job_does_again_what_errored_behind_the_last_success() -> None:
    shop = Shop()
    shop.submit(items=9, failing=(1, 4, 5))
    await shop.run(reports=3)
    shop.world.cancel()
    resume(shop.world, "j2")
    module = shop.module
    assert isinstance(module, Count)
    module.worked_at.clear()
    await shop.run("j2")
    assert module.worked_at == [4, 5, 6, 7, 8]
    assert shop.numbers("j2") == [0, 2, 3, 6, 7, 8]


async def test_a_module_that_breaks_fails_its_job_with_what_it_has() -> None:
    shop = Shop(Count(breaks_before=5))
    shop.submit(items=10)
    events = await shop.run()
    assert isinstance(events[-1], JobFailed)
    assert (events[-1].error_type, events[-1].attempt) == ("internal", 1)
    assert b"broken here" in (private_json(events[-1].private) or b"")
    assert shop.numbers() == [0, 1, 2, 3, 4]


async def test_results_of_an_item_that_errored_are_not_taken_as_who_goes_on_would_have_them_twice() -> None:
    shop = Shop(Count(says_both_at=5))
    shop.submit(items=10)
    events = await shop.run()
    assert isinstance(events[-1], JobFailed)
    assert events[-1].error_type == "module_fault"
    assert b"item 5 has results and the error 'http_4xx'" in (private_json(events[-1].private) or b"")
    shop.module = Count()
    resume(shop.world, "j2")
    await shop.run("j2")
    assert shop.numbers("j2") == list(range(10))


async def test_a_module_is_not_ahead_of_what_is_stored_by_more_than_fits_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(attempt, "AHEAD_CHARS", 2 * chars_of([{"n": 0}]))
    module, worked = Count(), list[int]()

    class Slow(MemoryBlobs):
        async def put(self, key: str, data: bytes) -> None:
            for _ in range(200):  # turns, in which a module does as much as it may
                await asyncio.sleep(0)
            await super().put(key, data)
            worked.append(len(module.worked_at))

    shop = Shop(module, blobs=Slow())
    shop.submit(items=60)
    await shop.run()
    assert shop.numbers() == list(range(60))
    stored = range(0, 61, 3)  # at each put: the plan, then chunks
    most = max(done - done_before for done, done_before in zip(worked, stored, strict=True))
    assert most <= 3, "two that wait, and one that waits for room"


async def test_params_that_are_not_those_of_the_module_fail_the_job() -> None:
    shop = Shop()
    shop.submit(items="many")
    events = await shop.run()
    assert isinstance(events[-1], JobFailed)
    assert events[-1].error_type == "params_invalid"


async def test_a_job_of_a_module_that_the_worker_has_not_fails_and_says_which() -> None:
    shop = Shop()
    shop.name = "other"
    shop.submit(items=1)
    events = await shop.run()
    assert isinstance(events[-1], JobFailed)
    assert events[-1].error_type == "module_unknown"
    assert b"no module 'count'" in (private_json(events[-1].private) or b"")


async def test_an_outage_of_the_blob_store_fails_nothing() -> None:
    shop = Shop()
    shop.submit(items=10)
    await shop.run(reports=2)
    shop.lose()
    shop.blobs.broken = BlobFault("away")
    events = await shop.run()
    assert names(events) == ["RetryScheduled"]
    shop.blobs.broken = None
    shop.world.after(60)
    await shop.run()
    assert shop.numbers() == list(range(10))


async def test_more_items_than_the_module_allows_are_refused_before_any_is_done() -> None:
    shop = Shop(Count(limits=Limits(max_items=5)))
    shop.submit(items=6)
    events = await shop.run()
    assert names(events) == ["JobFailed"]


async def test_results_are_readable_while_the_job_waits_for_its_next_item() -> None:
    shop = Shop(Count(stops_before=4))
    shop.submit(items=10)
    events = await shop.run(reports=3)  # the last of them for the time that passed: less than a chunk
    assert [event.next_item for event in events if isinstance(event, ItemsRecorded)] == [3, 4]
    assert shop.numbers() == [0, 1, 2, 3]
