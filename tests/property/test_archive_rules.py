"""Jobs leave memory and come back, and nobody can tell but by the events that say so."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.events import AnyEvent, JobCompleted, JobRecalled, JobsArchived
from services.ledger.apply import apply
from services.ledger.commands import AnyCommand, RegisterOrg
from services.ledger.policy import Policy
from services.ledger.record import digest_of
from services.ledger.replies import Drop
from services.ledger.state import Ledger
from tests.property.scripts import ORGS, RETENTION, Lose, Wait, scripts
from tests.unit.ledger.world import Keeper, PlainEncoder, World

Script = list[AnyCommand | Wait | Lose]
WHOLE = Policy(min_window=3, retention=RETENTION)
FORGETFUL = Policy(min_window=3, ended_kept=0, ended_kept_for=0, retention=RETENTION)


def live(
    script: Script, policy: Policy, often: list[bool], keeper: Keeper | None = None
) -> tuple[World, list[AnyEvent], list[object]]:
    """Live through a script, archiving after the steps that say so; return what was recorded and answered."""
    world = World(policy)
    world.keeper = keeper or world.keeper
    events: list[AnyEvent] = []
    for org in ORGS:
        world.when(RegisterOrg(command_id="r", org_id=org, name=org, max_in_flight=2))
    for number, step in enumerate(script):
        match step:
            case Wait():
                events += world.after(step.seconds)
            case Lose():
                events += world.lose(step.boot_id)
            case _:
                events += world.when(step)
        if often and often[number % len(often)]:
            events += world.archive()
    answers: list[object] = [reply.body for reply in world.sent.replies if not isinstance(reply.body, Drop)]
    return world, events, answers


def lasting(events: list[AnyEvent]) -> list[AnyEvent]:
    """Leave out what tells of memory, and the ids of events, which depend on their positions."""
    others = (event for event in events if not isinstance(event, JobsArchived | JobRecalled))
    return [replace(event, opened_by=()) if isinstance(event, JobCompleted) else event for event in others]


@settings(max_examples=300, deadline=None)
@given(scripts, st.lists(st.booleans(), max_size=5))
def test_a_ledger_that_forgets_decides_and_answers_like_one_that_does_not(script: Script, often: list[bool]) -> None:
    _, wanted, told = live(script, WHOLE, [])
    _, events, answers = live(script, FORGETFUL, often)
    assert lasting(events) == lasting(wanted)
    assert answers == told


@settings(max_examples=200, deadline=None)
@given(scripts, st.lists(st.booleans(), min_size=1, max_size=5))
def test_what_is_in_memory_is_a_fold_of_the_log_alone(script: Script, often: list[bool]) -> None:
    world, _, _ = live(script, FORGETFUL, often)
    again = Ledger(0, FORGETFUL)
    seqs: dict[str, int] = {}
    for recorded in world.seen:
        apply(again, recorded, digest_of(PlainEncoder().encode(recorded)))
        if job_id := recorded.event.job_id:
            assert recorded.header.seq == seqs.get(job_id, 0) + 1
            seqs[job_id] = recorded.header.seq
    assert again.jobs == world.ledger.jobs
    assert (again.ended, again.archived_up_to) == (world.ledger.ended, world.ledger.archived_up_to)
