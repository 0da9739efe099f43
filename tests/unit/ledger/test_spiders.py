"""Spider jobs: items without a plan, statistics whose newest count, and a run that never happens twice by itself."""

import pytest

from schemas.events import JobExpired, JobFailed, JobLogged, ReportRefused, StatsRecorded
from services.ledger.plans import Prices
from services.ledger.policy import SECOND, Policy
from services.ledger.reports import Chunk, Extracted, Failed, HandedBack, RetryLater
from services.ledger.status import Status
from services.ledger.vocabularies import shown
from services.runtime.item_chunks import ITEMS, chunk_key, log_key
from tests.unit.ledger.modules import DONE, items, tell
from tests.unit.ledger.spiders import SAID, running, scraped, stats, submit
from tests.unit.ledger.world import World, names

LATER = RetryLater(node_id="", try_number=1, delay_ms=10)


def error_type(world: World) -> str:
    failed = world.job().ending.failed
    return failed.error_type if failed else ""


def test_a_spider_job_records_items_lines_and_statistics_without_a_plan_and_ends() -> None:
    world = running()
    assert names(tell(world, SAID, stats(0, 0))) == ["JobLogged", "StatsRecorded"]
    assert names(tell(world, scraped(0, 0, 10), stats(1, 14))) == ["ItemsRecorded", "StatsRecorded"]
    come = items(world)
    assert (come.rows, come.scraped, come.chunks, come.stats, come.logged) == (10, 14, 1, 2, 1)
    done = Extracted(result_ref="", items=14)
    events = tell(world, scraped(1, 10, 14), stats(2, 14, final=True), outcome=done)
    assert names(events) == ["ItemsRecorded", "StatsRecorded", "JobExtracted", "JobCompleted"]
    assert (world.status(), items(world).rows, items(world).planned) == (Status.COMPLETED, 14, 0)


def test_lines_in_a_blob_and_their_levels_are_recorded() -> None:
    event = tell(running(), SAID)[0]
    assert isinstance(event, JobLogged)
    assert (event.lines_ref, event.lines_bytes, event.levels) == (SAID.lines_ref, 9, (0, 2, 0, 0, 0))


def test_what_was_told_before_is_recorded_once() -> None:
    world = running()
    parts = (SAID, stats(0, 3), scraped(0, 0, 3))
    tell(world, *parts)
    assert tell(world, *parts) == []
    assert names(tell(world, *parts, stats(1, 4))) == ["StatsRecorded"]


@pytest.mark.parametrize(
    "wrong",
    [
        scraped(2, 10, 20),
        scraped(1, 11, 20),
        scraped(1, 10, 10),
        scraped(1, 10, 20, rows=9),
        scraped(1, 10, 20, rows=9, errors=1),
        scraped(1, 10, 20, outcomes_bytes=5),
    ],
)
def test_a_chunk_that_does_not_follow_ends_the_run_instead_of_beginning_it_again(wrong: Chunk) -> None:
    world = running()
    tell(world, scraped(0, 0, 10))
    assert names(tell(world, wrong)) == ["ReportRefused", "JobFailed"]
    assert (error_type(world), items(world).rows) == ("internal", 10)


def test_a_spider_whose_first_report_got_lost_is_not_begun_again() -> None:
    world = running()
    assert names(tell(world, scraped(1, 10, 20))) == ["ReportRefused", "JobFailed"]


def test_a_spider_whose_lease_expired_is_lost_at_once_and_its_items_stay() -> None:
    world = running()
    tell(world, scraped(0, 0, 10))
    failed = world.lose("boot-1")[0]
    assert isinstance(failed, JobFailed)
    assert (failed.error_type, failed.refund) == ("worker_lost", 0)
    job = world.job()
    assert shown(job.vocabulary, job.status, error_type=error_type(world)) == "lost"
    assert items(world).rows == 10


def test_a_spider_that_told_nothing_yet_is_lost_too_as_it_may_have_begun() -> None:
    world = running()
    assert names(world.lose("boot-1"))[0] == "JobFailed"


@pytest.mark.parametrize("late", [DONE, Extracted(result_ref="", items=12), Failed(error_type="critical_log")])
def test_what_a_lost_spider_reports_late_is_recorded_and_flips_nothing(late: Extracted | Failed) -> None:
    world = running()
    tell(world, scraped(0, 0, 10))
    world.lose("boot-1")
    events = tell(world, scraped(1, 10, 12), outcome=late)
    assert names(events) == ["ReportRefused"]
    refused = events[0]
    assert isinstance(refused, ReportRefused)
    claimed = late.error_type if isinstance(late, Failed) else "succeeded"
    assert (refused.outcome, refused.items, refused.reason) == (claimed, getattr(late, "items", 0), "job_terminal")
    assert (world.status(), error_type(world), items(world).rows) == (Status.FAILED, "worker_lost", 10)
    assert names(tell(world, outcome=late)) == ["ReportRefused"]  # it alone, without items


@pytest.mark.parametrize("back", [HandedBack(), LATER])
def test_a_spider_that_has_begun_is_not_given_back(back: HandedBack | RetryLater) -> None:
    world = running()
    tell(world, SAID)
    assert names(tell(world, outcome=back)) == ["JobFailed"]
    assert error_type(world) == "runner_stopped"
    assert tell(world, outcome=back) == []
    world = running()
    assert names(tell(world, SAID, outcome=back)) == ["JobLogged", "JobFailed"]


@pytest.mark.parametrize("back", [HandedBack(), LATER])
def test_a_spider_that_has_not_begun_is_given_back_and_claimed_again(back: HandedBack | RetryLater) -> None:
    world = running()
    tell(world, outcome=back)
    world.after(1)
    assert not world.job().terminal
    world.claim(boot="boot-2")
    assert world.status() is Status.RUNNING
    assert names(tell(world, scraped(0, 0, 1), attempt=2, boot="boot-2")) == ["ItemsRecorded"]


def test_a_worker_that_stops_gives_back_what_has_not_begun_and_ends_what_has() -> None:
    world = running(World().org())
    submit(world, "j2")
    world.claim("j2")
    tell(world, SAID)
    world.announce(stopping=True)
    assert (error_type(world), world.status("j2")) == ("runner_stopped", Status.PENDING)


def test_a_task_that_nobody_claimed_goes_out_again() -> None:
    world = World().org()
    submit(world)
    assert "JobDispatched" in world.types()
    assert names(world.after(31)) == ["JobDispatched"]


def test_requests_through_the_unblocker_are_paid_once_and_end_the_job_where_credits_run_out() -> None:
    world = running(World(Policy(spread_percent=0, prices=Prices(routed=2))).org(credits=30))
    event = tell(world, stats(0, 0, routed=5))[0]
    assert isinstance(event, StatsRecorded)
    assert event.surcharge == 10
    tell(world, stats(1, 0, routed=5))
    tell(world, stats(1, 0, routed=5))
    assert world.ledger.orgs["acme"].account.balance == 20
    assert names(tell(world, stats(2, 0, routed=16), stats(3, 0, routed=17))) == ["StatsRecorded", "JobFailed"]
    assert (error_type(world), world.ledger.orgs["acme"].account.balance) == ("quota_exhausted", 0)


def test_a_job_that_is_not_metered_pays_nothing_for_them() -> None:
    world = running(World(Policy(spread_percent=0, prices=Prices(routed=2))).org(plan="bi"))
    assert names(tell(world, stats(0, 0, routed=5))) == ["StatsRecorded"]
    assert items(world).cost == 0


def test_the_time_limit_of_a_spider_ends_it_as_timed_out() -> None:
    world = running(max_run_seconds=60)
    events = world.after(61)
    assert names(events)[0] == "JobFailed"
    assert shown(world.job().vocabulary, world.status(), error_type=error_type(world)) == "timed_out"


def test_a_spider_that_waits_is_killed_and_its_record_stays() -> None:
    world = World().org(cap=1)
    submit(world, "j1")
    submit(world, "j2")
    assert names(world.cancel("j2")) == ["JobCancelled"]
    assert world.status("j2") is Status.CANCELLED


def test_results_of_a_spider_expire_as_those_of_all_jobs_and_its_blobs_are_asked_to_go_lines_too() -> None:
    world = running(World(Policy(spread_percent=0, retention=60 * SECOND)).org())
    tell(world, SAID, scraped(0, 0, 10), stats(0, 10, final=True), outcome=Extracted(result_ref="", items=10))
    world.now += 59 * SECOND
    assert world.expire() == []
    world.now += 2 * SECOND
    expired = world.expire()[0]
    assert isinstance(expired, JobExpired)
    assert (expired.items, expired.result_bytes, expired.planned, expired.errors) == (10, 10, 0, 0)
    erasure = world.sent.deliveries[-1]
    assert (erasure.erase, erasure.chain_id, erasure.items_kept) == (True, "j1", False)
    assert not log_key("acme", "j1", 1, 0).rsplit("/", 1)[-1].startswith(ITEMS)  # what is spared where items are kept


def test_keys_of_lines_lie_under_their_job_and_are_their_own() -> None:
    keys = {log_key("acme", "j1", attempt, number) for attempt in (1, 2) for number in (0, 1)}
    keys |= {chunk_key("acme", "j1", 1, attempt, number) for attempt in (1, 2) for number in (0, 1)}
    assert len(keys) == 8
    assert all(key.startswith("acme/j1/") for key in keys)
