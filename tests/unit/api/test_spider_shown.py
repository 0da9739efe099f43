"""What a spider job is to its callers: its state, its counts, why it has no items, and what was delivered."""

import pytest

from api import folded
from api.shown import event, without_variables
from api.spiders.delivered import delivered
from api.spiders.empty import reason_of
from api.spiders.job_shown import job_line, job_shown, of_detail, state_of
from projections.postgres.spider_views import SpiderDelivery, SpiderJob
from schemas.events import JobReleased, JobSubmitted
from schemas.private import private_bytes
from schemas.values import ReleaseReason, Vocabulary
from tests.event_streams import Play, Stream, entries_of
from tests.unit.api.spiders import AT, OPTIONS, delivery, job, over, progress, running


@pytest.mark.parametrize(
    ("shown", "state"),
    [
        (job(), "pending"),
        (job(task_out=True), "dispatched"),
        (running(), "running"),
        (running(status="extraction_done"), "running"),
        (over(), "finished"),
        (over("failed", error_type="critical_log"), "failed"),
        (over("failed", error_type="timed_out"), "timed_out"),
        (over("failed", error_type="worker_lost"), "lost"),
        (over("cancelled"), "killed"),
    ],
)
def test_every_state_of_the_contract_is_shown(shown: SpiderJob, state: str) -> None:
    assert state_of(shown) == state
    assert job_line(shown).snapshot == (state in ("pending", "dispatched", "running"))


@pytest.mark.parametrize(
    ("of", "reason"),
    [
        (job(), "not started yet"),
        (job(task_out=True), "not started yet"),
        (running(progress=progress(7, 0)), "scraped 7, none written yet"),
        (running(), "running, nothing scraped yet"),
        (over(items=0), "finished without items"),
        (over("cancelled", claimed_at=None), "finished without items"),
        (over(progress=progress(7, 7), expired_at=AT), "past retention"),
        (over(items=12), "reported 12 items but wrote no chunks (a storage write failed)"),
        (over("failed", progress=progress(3, 0)), "reported 3 items but wrote no chunks (a storage write failed)"),
        (over(progress=progress(7, 5)), None),
        (running(progress=progress(7, 5)), None),
    ],
)
def test_each_of_the_six_reasons_for_no_items_is_told_word_for_word(of: SpiderJob, reason: str | None) -> None:
    assert reason_of(of) == reason


def test_both_counts_are_shown_and_what_is_still_on_the_runner() -> None:
    line = job_line(running(progress=progress(9, 4)))
    assert (line.items_total, line.items_stored, line.items_buffered) == (9, 4, 5)
    older = job_line(running(progress=progress(3, 4)))  # statistics come every 30 s, chunks every second
    assert (older.items_total, older.items_stored, older.items_buffered) == (4, 4, 0)


@pytest.mark.parametrize(
    ("schedule_id", "number"),
    [("spi-12", 12), ("spi-0197aaaa-0000-7000-8000-000000000012", None), ("sch-12", None), (None, None)],
)
def test_a_schedule_is_shown_by_its_number(schedule_id: str | None, number: int | None) -> None:
    assert job_line(job(schedule_id=schedule_id)).schedule_id == number


def test_run_options_are_shown_with_their_defaults_and_variables_by_name_alone() -> None:
    options = {**OPTIONS, "env": {"TOKEN": "s3cret", "A": "b"}, "settings": {"DOWNLOAD_DELAY": 1}, "unblock": "marked"}
    shown = job_shown(job(options=options))
    assert (shown.env_names, shown.settings, shown.unblock) == (["A", "TOKEN"], {"DOWNLOAD_DELAY": 1}, "marked")
    assert "s3cret" not in repr(shown)
    assert (shown.isolate_pipelines, shown.log_level, shown.memory, shown.deploy_version) == (True, "INFO", 512, 3)
    assert (shown.spiders, shown.grouped, shown.project) == (["books"], False, "shop")
    assert job_shown(job(options=None)).spiders == []  # sealed, and its key is gone


@pytest.mark.parametrize(
    ("of", "reason"),
    [
        (over("failed", error_type="critical_log", error_message="it broke"), "it broke"),
        (over("failed", error_type="memory_limit"), "memory_limit"),
        (over("failed", error_type="timed_out"), "it hit its time limit of 60 s"),
        (over("failed", error_type="worker_lost"), "its runner vanished: how it ended is unknown"),
        (over(), None),
    ],
)  # fmt: skip
def test_why_a_job_failed_is_on_its_row(of: SpiderJob, reason: str | None) -> None:
    assert job_line(of).reason == reason


@pytest.mark.parametrize(
    ("deliveries", "said"),
    [
        ([], None),
        ([delivery(rows=1240, place="mydb.items")], "1240 -> mydb.items"),
        ([delivery(rows=3)], "3 -> lake"),
        ([delivery("requested")], "lake: under way"),
        ([delivery("waiting", error_type="connection")], "lake: connection (it is tried again)"),
        ([delivery("dead_lettered", error_type="x", error_message="no route")], "lake: no route"),
        ([delivery("dead_lettered", error_type="no_such_table")], "lake: no_such_table"),
        ([delivery("waived")], "lake: given up"),
        ([delivery(kind="webhook", rows=1)], "lake: told"),
        ([delivery(destination_id="wh-1:job.completed", kind="webhook", rows=1)], None),
        ([delivery(rows=2, place="a.b"), delivery("requested")], "2 -> a.b; lake: under way"),
    ],
)  # fmt: skip
def test_what_was_delivered_is_told_or_the_error(deliveries: list[SpiderDelivery], said: str | None) -> None:
    assert delivered(deliveries) == said
    assert job_line(over(deliveries=deliveries)).delivered == said


def submitted() -> tuple[Stream, Play]:
    """A stream with a spider job that was just submitted."""
    stream = Stream().open()
    made = stream.submit(4)
    made.destinations = ()
    return stream, made


def seen(stream: Stream, made: Play) -> SpiderJob:
    """The job as the tail of the log has it."""
    return of_detail(folded.whole([each for each in stream.events if each.event.job_id == made.job_id]))


def test_the_tail_of_the_log_tells_whether_a_task_is_out() -> None:
    stream, made = submitted()
    assert not seen(stream, made).task_out
    stream.dispatch(made)
    assert seen(stream, made).task_out
    stream.claim(made)
    assert not seen(stream, made).task_out
    released = JobReleased(attempt=1, reason=ReleaseReason.HANDED_BACK, worker_id="w1", boot_id="b1")
    stream.of(made, released)
    assert not seen(stream, made).task_out
    stream.dispatch(made)
    assert seen(stream, made).task_out


def test_a_job_that_only_the_log_has_is_shown_whole() -> None:
    stream = Stream().open()
    made = Play("acme", "j1", ())
    private = private_bytes({"input": OPTIONS})
    stream.of(made, JobSubmitted(vocabulary=Vocabulary.SPIDER, workflow_id="shop", priority=5, private=private))
    line = job_shown(seen(stream, made))
    assert (line.key, line.state, line.spiders, line.priority) == ("j1", "pending", ["books"], 5)


def test_values_of_variables_are_shown_nowhere() -> None:
    given = {"project": "shop", "env": {"TOKEN": "hidden"}}
    said = JobSubmitted(vocabulary=Vocabulary.SPIDER, private=private_bytes({"input": given, "url": "u"}))
    stream = Stream().open()
    stream.of(Play("acme", "j1", ()), said)
    [*_, entry] = entries_of(stream)
    assert event(entry).private == {"input": {"project": "shop", "env": ["TOKEN"]}, "url": "u"}
    assert without_variables("spider", given) == {"project": "shop", "env": ["TOKEN"]}
    assert without_variables("workflow", given) == given
