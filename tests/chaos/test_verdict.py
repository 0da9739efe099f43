"""The verdict of a chaos run can fail: each kind of fault is named, and a log without one is not."""

from collections import defaultdict
from random import Random

import pytest
from msgspec.structs import replace

from projections.verification.faults import Fault
from schemas.events import JobCancelled, JobCompleted
from schemas.private import private_bytes
from schemas.recorded import Recorded
from schemas.values import After, Destination
from services.cli.demo_kinds import PAGE_KINDS
from tests.chaos.faults import BROKER_NAMES, schedule
from tests.chaos.receiver import About, Message, Receiver
from tests.chaos.traffic import Asked, Told
from tests.chaos.verdict import (
    Verdict,
    judge_ends,
    judge_faults,
    judge_history,
    judge_log,
    judge_receiver,
    judge_told,
)
from tests.event_streams import Play, Stream
from tests.simulation.story import Story

HOOK = Destination(destination_id="hook", kind="webhook")
PLACES = (
    Destination(destination_id="internal", kind="postgres"),
    HOOK,
    Destination(destination_id="hook:done", kind="webhook", gating=False, after=After.COMPLETED),
)
PRODUCT, GONE = (next(kind for kind in PAGE_KINDS if kind.name == name) for name in ("product", "gone"))


def extracted() -> tuple[Stream, Play]:
    """Return a log with one job that waits for its ACKs."""
    stream = Stream().open()
    job = stream.submit(0, PLACES[:2])
    stream.dispatch(job)
    stream.claim(job)
    stream.visit(job)
    stream.extract(job)
    return stream, job


def judged(stream: Stream) -> Verdict:
    """Judge a log alone."""
    verdict, by_job = Verdict(), defaultdict[str, list[Recorded]](list)
    for each in stream.events:
        if each.event.job_id:
            by_job[each.event.job_id].append(each)
    judge_log(verdict, by_job)
    return verdict


def completed() -> Stream:
    """Return a log with one job that has ended well."""
    stream, job = extracted()
    stream.ack(job, "internal")
    stream.ack(job, "hook")
    return stream


def test_nothing_is_wrong_with_a_legal_log() -> None:
    assert judged(completed()).ok
    assert judged(Stream().open().play(range(3, 400, 7))).ok


def test_a_gate_that_opened_early_is_named() -> None:
    stream, job = extracted()
    stream.ack(job, "internal")
    stream.of(job, JobCompleted())
    assert judged(stream).early_gates == [f"{job.job_id}: completed without hook"]


def test_a_second_end_is_doubled() -> None:
    stream = completed()
    stream.of(stream.jobs[0], JobCancelled())
    assert judged(stream).doubled == [f"{stream.jobs[0].job_id}: end recorded 2 times"]


def test_a_claim_recorded_twice_is_doubled() -> None:
    stream, job = extracted()
    job.attempt -= 1
    stream.claim(job)
    assert judged(stream).doubled == [f"{job.job_id}: claim of attempt 1 recorded 2 times"]


def test_an_order_that_made_two_jobs_is_doubled() -> None:
    stream = Stream().open()
    first, second = stream.submit(0), stream.submit(0)
    by_job = {job.job_id: [_submitted_with("http://site/1", stream, job)] for job in (first, second)}
    verdict = Verdict()
    judge_log(verdict, by_job)
    assert len(verdict.doubled) == 1
    assert "http://site/1" in verdict.doubled[0]


def _submitted_with(url: str, stream: Stream, job: Play) -> Recorded:
    recorded = next(each for each in stream.events if each.event.job_id == job.job_id)
    return Recorded(recorded.header, replace(recorded.event, private=private_bytes({"url": url})))


def test_what_verification_finds_is_sorted() -> None:
    verdict = Verdict()
    judge_faults(
        verdict,
        [
            Fault("jobs", "o", "j", "row", "one", "none"),
            Fault("job_events", "o", "j", "row", "none", "one too many"),
            Fault("gate_violations", "o", "j", "row", "none", "completed without its ACKs"),
            Fault("jobs", "o", "j", "status", "completed", "failed"),
        ],
    )
    assert [len(each) for each in (verdict.lost, verdict.doubled, verdict.early_gates, verdict.illegal)] == [1] * 4


def test_what_the_fold_complains_of_is_sorted() -> None:
    verdict = Verdict()
    judge_history(
        verdict, ["0:9 JobSubmitted j: submitted twice", "0:9 JobCompleted j: completed without ['hook']", "x"]
    )
    assert (len(verdict.doubled), len(verdict.early_gates), verdict.illegal) == (1, 1, ["x"])


STORY = Story("birch", PLACES, status="completed")


@pytest.mark.parametrize(
    ("stories", "statuses", "kind"),
    [
        ({}, {"j": "completed"}, "lost"),
        ({"j": STORY}, {}, "lost"),
        ({"j": STORY}, {"j": "running"}, "illegal"),
    ],
)
def test_an_accepted_job_has_to_be_where_it_belongs(
    stories: dict[str, Story], statuses: dict[str, str], kind: str
) -> None:
    verdict, told = Verdict(), Told(accepted={"j": Asked("birch", "http://site/product/1", PRODUCT)})
    judge_told(verdict, told, {"j": STORY}, {"j": "completed"})
    assert verdict.ok
    judge_told(verdict, told, stories, statuses)
    assert len(getattr(verdict, kind)) == 1


def test_customers_were_told_the_truth() -> None:
    told = Told(accepted={"j": Asked("birch", "http://site/gone/1", GONE)}, cancelled={"j"}, unanswered=1)
    told.doubled, told.refused = ["key k was answered with [['j'], ['i']]"], ["submit k: 500"]
    verdict = Verdict()
    judge_told(verdict, told, {"j": STORY}, {"j": "completed"})
    assert (len(verdict.lost), len(verdict.doubled), len(verdict.illegal)) == (1, 1, 3)


def test_a_job_that_does_not_end_or_owes_something_is_lost() -> None:
    verdict = Verdict()
    judge_ends(verdict, {"j": Story("birch", PLACES, status="running"), "k": STORY})
    assert verdict.lost == [
        "j has not ended: running",
        "k (completed) still owes ['hook:done', 'internal', 'hook']",
    ]


def receiver_with(*told: tuple[str, str, int]) -> Receiver:
    """Return a receiver that got these: webhook-id, type, when."""
    receiver = Receiver(Random(1))
    for message_id, type_, at in told:
        receiver.messages[message_id] = Message(About("acme", "main", type_, "j"), at, {b"body"}, 1)
    return receiver


def of_receiver(receiver: Receiver) -> Verdict:
    """Judge what a receiver got about a job that is completed at its last event."""
    verdict, stream = Verdict(), completed()
    judge_receiver(verdict, receiver, {"j": Story("acme", PLACES, status="completed")}, {"j": stream.events})
    return verdict


def test_the_receiver_has_one_message_about_each_thing_in_time() -> None:
    ended = completed().events[-1].header.occurred_at
    data, notice = ("m1", "job.extracted", ended - 10), ("m2", "job.completed", ended + 10)
    assert of_receiver(receiver_with(data, notice)).ok
    assert len(of_receiver(receiver_with(data)).lost) == 1
    assert len(of_receiver(receiver_with(data, notice, ("m3", "job.completed", ended + 20))).doubled) == 1
    assert len(of_receiver(receiver_with(("m1", "job.extracted", ended + 1), notice)).early_gates) == 1
    assert len(of_receiver(receiver_with(data, ("m2", "job.completed", ended - 1))).illegal) == 1
    assert len(of_receiver(receiver_with(data, notice, ("m3", "job.failed", ended + 1))).illegal) == 1
    changed = receiver_with(data, notice)
    changed.messages["m1"].bodies.add(b"other")
    assert len(of_receiver(changed).doubled) == 1


def test_the_same_seed_breaks_the_same() -> None:
    assert schedule(7, 600) == schedule(7, 600)
    assert schedule(7, 600) != schedule(8, 600)


def test_a_long_schedule_hits_every_process_and_never_all_brokers() -> None:
    faults = schedule(1, 1200)
    targets = {target for fault in faults for target in fault.targets}
    assert {"decider-0", "decider-1", "workers-0", "writers-1", "api", "postgres", "clickhouse"} <= targets
    assert targets >= set(BROKER_NAMES)
    assert max(len(fault.targets) for fault in faults if fault.lane == "brokers") < len(BROKER_NAMES)
