"""A state that was put into parts and back is the state, and goes on as it would have."""

from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.ledger import snapshot
from services.ledger.apply import apply
from services.ledger.commands import AnyCommand
from services.ledger.digest import digest_of_state
from services.ledger.job import Job
from services.ledger.policy import Policy
from services.ledger.record import digest_of
from services.ledger.snapshot import FOLD_VERSION, Rebuild, parts_of
from services.ledger.snapshot_parts import Row
from services.ledger.state import Ledger, Org, Worker
from tests.event_streams import Stream
from tests.property.scripts import Lose, Wait, run, scripts

# The digest of the state that the events of `GOLDEN_NUMBERS` add up to. Where it changes, snapshots of before are
# of another fold: raise FOLD_VERSION, and put the new digest beside it.
GOLDEN = {6: "21a2b019a093666127c12c932b5976364e78b69ff6318bd2017ce3280bdeb57f"}
GOLDEN_NUMBERS = [(number * 7919 + number // 3) % 1600 for number in range(600)]

Fold = list[tuple[object, bytes]]


def folded(events: Fold, into: Ledger | None = None) -> Ledger:
    """Fold recorded events and their hashes."""
    ledger = into or Ledger(0)
    for recorded, digest in events:
        apply(ledger, recorded, digest)  # type: ignore[arg-type]
    return ledger


def restored(ledger: Ledger) -> Ledger:
    """Put a state into parts and back."""
    rebuild = Rebuild(ledger.partition, ledger.policy)
    for part in parts_of(ledger):
        rebuild.add(part)
    return rebuild.ledger


def stream_of(numbers: list[int]) -> Fold:
    """A legal stream of events."""
    stream = Stream(modules=True).open().play([1, *numbers])  # 1: the worker is known before it claims
    return [(recorded, digest_of(raw)) for recorded, raw in zip(stream.events, stream.raws, strict=True)]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 4000), max_size=120), st.floats(0, 1))
def test_a_restored_state_goes_on_as_the_full_fold(numbers: list[int], cut: float) -> None:
    events = stream_of(numbers)
    at = int(len(events) * cut)
    before = folded(events[:at])
    again = restored(before)
    assert digest_of_state(again) == digest_of_state(before)
    assert digest_of_state(folded(events[at:], again)) == digest_of_state(folded(events))


@settings(max_examples=150, deadline=None)
@given(scripts, st.floats(0, 1))
def test_whatever_was_decided_a_snapshot_at_any_position_leads_to_the_same_state(
    script: list[AnyCommand | Wait | Lose], cut: float
) -> None:
    world = run(script)
    events: Fold = [(stored.recorded, digest_of(stored.stored)) for stored in world.sent.events]
    at = int(len(events) * cut)
    again = folded(events[at:], restored(folded(events[:at], Ledger(0, world.policy))))
    assert digest_of_state(again) == digest_of_state(folded(events, Ledger(0, world.policy)))


def test_many_parts_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "JOBS_IN_PART", 2)
    monkeypatch.setattr(snapshot, "ENTRIES_IN_PART", 3)
    ledger = folded(stream_of(GOLDEN_NUMBERS))
    assert len(ledger.jobs) > 20
    assert digest_of_state(restored(ledger)) == digest_of_state(ledger)


def test_the_fold_has_the_version_that_it_had() -> None:
    digest = digest_of_state(folded(stream_of(GOLDEN_NUMBERS), Ledger(0, Policy()))).hex()
    assert GOLDEN.get(FOLD_VERSION) == digest, "the fold has another outcome: raise FOLD_VERSION, and note its digest"


@pytest.mark.parametrize(
    ("of", "known"),
    [
        (
            Ledger,
            "partition policy position cause occurred_at heads orgs jobs workers ended archived_up_to "
            "unclaimed running run_means turns timers resends",
        ),
        (
            Org,
            "org_id max_in_flight seq max_pending max_queue_seconds retention_seconds paused paused_workflows pending "
            "holders queues keys fires account endpoints chains live",
        ),
        (Worker, "worker_id kind slots seen_at jobs parting"),
    ],
)
def test_a_snapshot_knows_every_part_of_the_state(of: type[Ledger], known: str) -> None:
    """A new one has to be added to `services/ledger/snapshot.py` and `digest.py`, or to follow from the jobs."""
    assert {field.name for field in fields(of)} == set(known.split())


def test_a_snapshot_knows_every_field_of_a_job() -> None:
    assert set(Row.__struct_fields__) == set(Job.__struct_fields__)
