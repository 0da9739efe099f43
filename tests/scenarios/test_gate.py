"""Scenarios 55 to 60: the gate. 59 is `tests/acceptance/test_notices.py`, where receivers call back."""

import random
from collections import Counter
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.events import AnyEvent, DeliveryAcked, DeliveryRequested, JobCompleted
from schemas.recorded import Recorded
from schemas.values import After, Destination, OnExhausted
from services.decider.alarms import raise_alarms
from services.decider.batch import BatchDecider
from services.ledger.policy import SECOND, Policy
from services.ledger.reports import DeliveryResult
from services.ledger.status import Status
from services.runtime.metrics import exposition
from services.writers.writer import Writer
from tests.property.test_snapshots import restored
from tests.unit.ledger.world import EXTRACTED, PlainEncoder, World, ack, names, node

NOTICE = Destination(destination_id="wh-0:job.completed", kind="webhook", gating=False, after=After.COMPLETED)


def hooks(count: int, **fields: object) -> tuple[Destination, ...]:
    return tuple(Destination(destination_id=f"wh-{number}", kind="webhook", **fields) for number in range(count))  # type: ignore[arg-type]


def completions(world: World) -> list[Recorded]:
    return [recorded for recorded in world.seen if isinstance(recorded.event, JobCompleted)]


# ---- 55 ----


def test_55_two_destinations_with_the_same_place_have_two_ids_and_two_acks() -> None:
    world = World().extracted(destinations=hooks(2))  # the ids tell them apart, whatever url they lead to
    asked = [r.event.destination_id for r in world.seen if isinstance(r.event, DeliveryRequested)]
    assert asked == ["wh-0", "wh-1"]
    assert names(world.settle(ack(destination="wh-0"))) == ["DeliveryAcked"]
    assert names(world.settle(ack(destination="wh-0"))) == []
    assert names(world.settle(ack(destination="wh-1"))) == ["DeliveryAcked", "JobCompleted"]


# ---- 56 ----


def opens_once(world: World, places: Sequence[Destination], answers: list[DeliveryResult], batch: int) -> None:
    """Send the answers, so many a command; the gate opens at the last distinct ACK, once, and names all of them."""
    left = {place.destination_id for place in places if place.gating}
    for start in range(0, len(answers), batch):
        some = answers[start : start + batch]
        events = world.settle(*some)
        left -= {each.destination_id for each in some}
        assert bool(completions(world)) == (not left)
        assert [type(event) for event in events].count(JobCompleted) <= 1
    [completed] = completions(world)
    acks = {
        recorded.event.destination_id: recorded.header
        for recorded in world.seen
        if isinstance(recorded.event, DeliveryAcked)
    }
    assert isinstance(completed.event, JobCompleted)
    assert sorted(completed.event.opened_by) == sorted(header.event_id for header in acks.values())
    assert completed.header.position > max((header.position for header in acks.values()), default=0)


@pytest.mark.parametrize("count", [1, 2, 100])
@pytest.mark.parametrize("batch", [1, 7, 100])
def test_56_the_gate_opens_once_after_the_last_distinct_ack(count: int, batch: int) -> None:
    places = hooks(count)
    world = World().extracted(destinations=places)
    answers = [ack(destination=place.destination_id) for place in places] * 3
    random.Random(count * 1000 + batch).shuffle(answers)
    opens_once(world, places, answers, batch)


def test_56_a_job_without_a_gating_destination_is_completed_with_its_extraction() -> None:
    for places in ((), hooks(2, gating=False)):
        world = World().extracted(destinations=places)
        [completed] = completions(world)
        assert isinstance(completed.event, JobCompleted)
        assert completed.event.opened_by == ()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_56_no_order_and_no_repetition_of_acks_changes_when_it_opens(data: st.DataObject) -> None:
    places = hooks(data.draw(st.integers(1, 12)))
    answers = [ack(destination=place.destination_id) for place in places]
    more = data.draw(st.lists(st.sampled_from(answers), max_size=20))
    shuffled = data.draw(st.permutations([*answers, *more]))
    opens_once(World().extracted(destinations=places), places, shuffled, data.draw(st.integers(1, 5)))


@pytest.mark.parametrize("failed_first", [True, False])
def test_56_an_ack_beside_a_last_failure_in_one_batch_opens_the_gate(failed_first: bool) -> None:
    world = World(Policy(delivery_schedule=())).extracted()
    answers = [ack(error_type="connection", rows=0), ack()]
    world.settle(*(answers if failed_first else reversed(answers)))
    assert world.status() is Status.COMPLETED


def test_56_the_set_is_that_of_the_submission_whatever_jobs_before_and_after_it_have() -> None:
    """Destinations were added, taken away and changed between three jobs of an org; also after a restart."""
    world = World().org()
    sets = {"j1": hooks(2), "j2": (*hooks(1, gating=False), NOTICE), "j3": hooks(3, on_exhausted=OnExhausted.FAIL)}
    for job_id, places in sets.items():
        world.submit(job_id, destinations=places)
    world.decider = BatchDecider(restored(world.ledger), PlainEncoder())
    for job_id, places in sets.items():
        world.claim(job_id)
        asked = [event for event in world.report(EXTRACTED, node(0), job_id=job_id) if type(event) is DeliveryRequested]
        assert {event.destination_id for event in asked} == {place.destination_id for place in places}
        assert world.job(job_id).destinations == places
    assert world.status("j2") is Status.COMPLETED
    for job_id, last in (("j1", 1), ("j3", 2)):
        world.settle(*(ack(job_id, f"wh-{number}") for number in range(last)))
        assert world.status(job_id) is Status.EXTRACTION_DONE
        world.settle(ack(job_id, f"wh-{last}"))
        assert world.status(job_id) is Status.COMPLETED


def test_56_acks_for_another_job_or_place_open_nothing() -> None:
    world = World().extracted(destinations=hooks(1))
    world.submit("j2", destinations=hooks(1))
    assert world.settle(ack("j2", "wh-0"), ack("j1", "wh-7"), ack("j1", "wh-0", generation=2)) == []
    assert world.settle(msgspec.structs.replace(ack("j1", "wh-0"), org_id="rival")) == []
    assert world.status() is Status.EXTRACTION_DONE


# ---- 58 ----


@pytest.mark.parametrize(
    ("policy", "verdict"),
    [
        (OnExhausted.HOLD, ("JobFailed", "gate_deadline")),
        (OnExhausted.FAIL, ("JobFailed", "gate_deadline")),
        (OnExhausted.WAIVE, ("DeliveryWaived", "gate_deadline")),
    ],
)
def test_58_a_part_that_never_arrives_leads_to_a_named_verdict_and_an_alarm(
    policy: OnExhausted, verdict: tuple[str, str]
) -> None:
    world = World(Policy(gate_deadline=600 * SECOND))
    world.extracted(destinations=(*hooks(2, on_exhausted=policy), NOTICE))
    world.settle(ack(destination="wh-0"))
    before = alarms()
    events: list[AnyEvent] = []
    for _ in range(601):
        events += world.after(1)
        assert (
            not set(names(events)) - {"DeliveryRequested"} or world.now >= world.job().run.extracted_at + 600 * SECOND
        )
    judged = next(event for event in events if type(event).__name__ == verdict[0])
    assert (getattr(judged, "error_type", "") or getattr(judged, "reason", "")) == verdict[1]
    assert getattr(judged, "destination_id", "") == "wh-1"
    raise_alarms(world.seen)
    assert alarms() == before + 1

    notices = Counter(world.types())["DeliveryRequested"]
    assert names(world.settle(ack(destination="wh-1"))) == ["DeliveryAcked"]  # late: recorded
    world.after(0)
    assert Counter(world.types())["DeliveryRequested"] == notices  # and nobody is told again
    assert len([t for t in world.types() if t in ("JobCompleted", "JobFailed")]) == 1


def alarms() -> float:
    """Verdicts counted so far."""
    lines = exposition().decode().splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith("jobledger_gate_verdicts_total{"))


# ---- 60 ----


class TwoRefusedOnce(Writer):
    """A destination that refuses rows 3 and 7 of the first batch."""

    def __init__(self) -> None:
        self.rows: Counter[str] = Counter()
        self.refused = {"j3", "j7"}

    async def write(self, deliveries: Sequence[object]) -> list[DeliveryResult]:
        """Write what is not refused."""
        results = []
        for each in deliveries:
            job_id = each.job_id  # type: ignore[attr-defined]
            if job_id in self.refused:
                self.refused.discard(job_id)
                results.append(ack(job_id, "wh-0", rows=0, error_type="row_refused"))
            else:
                self.rows[job_id] += 1
                results.append(ack(job_id, "wh-0"))
        return results

    async def close(self) -> None:
        """Nothing to let go of."""


async def test_60_a_batch_that_fails_in_part_is_not_sent_again_as_a_whole() -> None:
    world = World().org(cap=20)
    jobs = [f"j{number}" for number in range(1, 11)]
    world.submit(*jobs, destinations=hooks(1))
    for job_id in jobs:
        world.claim(job_id)
        world.report(EXTRACTED, node(0), job_id=job_id)
    writer = TwoRefusedOnce()
    asked = list(world.sent.deliveries)
    world.settle(*await writer.write(asked))
    assert [job_id for job_id in jobs if world.status(job_id) is Status.COMPLETED] == [
        job_id for job_id in jobs if job_id not in ("j3", "j7")
    ]
    world.after(6)
    again = world.sent.deliveries[len(asked) :]
    assert [each.job_id for each in again] == ["j3", "j7"]
    world.settle(*await writer.write(again))
    assert all(world.status(job_id) is Status.COMPLETED for job_id in jobs)
    assert writer.rows == Counter(jobs)
    acked = [recorded.event.job_id for recorded in world.seen if isinstance(recorded.event, DeliveryAcked)]
    assert sorted(acked) == sorted(jobs)
    assert acked[-2:] == ["j3", "j7"]
