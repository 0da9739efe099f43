"""The rules of planned items and of going on against a model of their own, under commands in any order."""

from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec.structs import replace

from schemas.events import JobContinued, JobFailed
from schemas.item_events import ItemsRecorded
from services.ledger.policy import SECOND, Policy
from services.ledger.replies import Granted
from services.ledger.reports import Chunk, Failed, ItemsReport, Outcome, Planned
from tests.property.chain_model import FOLLOW_UP_JOBS, PLANNED, Chains, Link
from tests.unit.ledger.modules import DONE, chunk, code, resume, submit, tell
from tests.unit.ledger.world import World

LIMIT_SECONDS = 30
MOST_JOBS = 4
ALL = ("pending", "running", "done", "failed", "cancelled")
WHICH = st.integers(0, 3)
STATUSES = {"done": "completed"}
BOOTS = st.sampled_from(["b1", "b2"])
OUTCOMES = st.lists(st.sampled_from([True, True, False]), min_size=1, max_size=4)
PLAN = Planned(plan_ref="acme/plan", planned=PLANNED, plan_bytes=7)


def chunk_of(number: int, first: int, outcomes: list[bool]) -> Chunk:
    """Return a chunk with these outcomes, as a worker tells it."""
    succeeded = [at for at, each in enumerate(outcomes) if each]
    last = succeeded[-1] if succeeded else -1
    return chunk(
        number,
        first,
        first + len(outcomes),
        outcomes.count(False),
        resume_item=first + last + 1 if succeeded else 0,
        errors_before=outcomes[: last + 1].count(False),
    )


def has(*statuses: str) -> Callable[["ChainMachine"], bool]:
    """Return whether a job is in one of these states."""
    return lambda machine: any(link.status in statuses for link in machine.model.links.values())


class ChainMachine(RuleBasedStateMachine):
    """Lets module jobs begin, get on, stop and go on, and compares what each has."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(Policy(min_window=1000, spread_percent=0, follow_up_jobs=FOLLOW_UP_JOBS)).org(cap=50)
        self.model = Chains()
        self.names = 0
        self.told: list[tuple[str, str, int, tuple[ItemsReport, ...]]] = []

    def name(self) -> str:
        """Return the name of a new job."""
        self.names += 1
        return f"j{self.names}"

    def of(self, which: int, *statuses: str) -> str:
        """Return a job that is in one of these states."""
        names = [name for name, link in self.model.links.items() if link.status in statuses]
        return names[-1 - which % len(names)]

    @precondition(lambda self: len(self.model.links) < MOST_JOBS)
    @rule()
    def submit(self) -> None:
        """A customer submits a module job."""
        job_id = self.name()
        submit(self.world, job_id, LIMIT_SECONDS)
        self.model.links[job_id] = Link()

    @precondition(lambda self: self.model.live() <= FOLLOW_UP_JOBS)
    @rule(room=st.integers(0, 1))
    def submit_others(self, room: int) -> None:
        """A customer submits jobs of a workflow, until beside one of the jobs there is room for one more, or none."""
        names = [self.name() for _ in range(FOLLOW_UP_JOBS + 1 - self.model.live() - room)]
        if names:
            self.world.submit(*names, destinations=())
            self.model.others.update(names)

    @precondition(lambda self: self.model.others)
    @rule()
    def cancel_other(self) -> None:
        """A job of a workflow ends."""
        name = min(self.model.others)
        self.world.cancel(name)
        self.model.others.remove(name)

    @precondition(has("pending"))
    @rule(which=WHICH, boot=BOOTS)
    def claim(self, which: int, boot: str) -> None:
        """A worker claims a job; it is told where to begin."""
        self.wait(1)
        job = self.of(which, "pending", "running", "failed")
        link = self.model.links[job]
        self.world.claim(job, boot)
        granted = self.world.reply
        if isinstance(granted, Granted):
            assert link.live
            come = granted.resume.items
            assert (come.next_item if come else 0) == len(link.outcomes)
            assert bool(come and come.plan_ref) == link.planned
            link.status, link.boot, link.attempt = "running", boot, granted.attempt
            link.limit_at = link.limit_at or self.world.now + LIMIT_SECONDS * SECOND

    @precondition(has("running"))
    @rule(which=WHICH, outcomes=OUTCOMES)
    def record(self, which: int, outcomes: list[bool]) -> None:
        """Whoever claimed a job records a chunk."""
        job = self.of(which, "running")
        link = self.model.links[job]
        outcomes = outcomes[: PLANNED - len(link.outcomes)]
        self.tell(job, link.boot, link.attempt, outcomes)

    @precondition(has("running"))
    @rule(which=WHICH)
    def record_all(self, which: int) -> None:
        """Whoever claimed a job records all that is left, and does not come to say that it is done."""
        job = self.of(which, "running")
        link = self.model.links[job]
        self.tell(job, link.boot, link.attempt, [True] * (PLANNED - len(link.outcomes)))

    @precondition(has(*ALL))
    @rule(which=WHICH, outcomes=OUTCOMES, boot=BOOTS, attempt=st.integers(1, 3))
    def record_as(self, which: int, outcomes: list[bool], boot: str, attempt: int) -> None:
        """A worker records a chunk of a job that may have been taken from it."""
        job = self.of(which, *ALL)
        outcomes = outcomes[: PLANNED - len(self.model.links[job].outcomes)]
        self.tell(job, boot, attempt, outcomes)

    @precondition(lambda self: self.told)
    @rule(which=st.integers(0, 20))
    def tell_again(self, which: int) -> None:
        """A report comes once more, late."""
        job, boot, attempt, parts = self.told[-1 - which % len(self.told)]
        recorded = tell(self.world, *parts, job_id=job, attempt=attempt, boot=boot)
        assert not any(isinstance(event, ItemsRecorded) for event in recorded)

    @precondition(has("running"))
    @rule(which=WHICH, skipped=st.integers(1, 3), what=st.sampled_from(["chunk", "items", "repeat", "beyond"]))
    def record_with_a_gap(self, which: int, skipped: int, what: str) -> None:
        """A chunk that is not the next one is not recorded, nor what came with it: another worker gets the job."""
        job = self.of(which, "running")
        link = self.model.links[job]
        number, first = link.chunks, len(link.outcomes)
        part = {
            "chunk": chunk_of(number + skipped, first, [True]),
            "items": chunk_of(number, first + skipped, [True]),
            "repeat": chunk_of(number, max(0, first - skipped), [True]) if first else chunk_of(number + 1, 0, [True]),
            "beyond": replace(chunk_of(number, first, [True]), next_item=PLANNED + skipped),
        }[what]
        recorded = tell(self.world, PLAN, part, job_id=job, attempt=link.attempt, boot=link.boot)
        assert not any(isinstance(event, ItemsRecorded) for event in recorded)
        link.status = "pending" if link.status == "running" else link.status

    @precondition(has("pending", "running"))
    @rule(which=WHICH, how=st.sampled_from(["done", "failed", "cancelled"]))
    def end(self, which: int, how: str) -> None:
        """A job ends: its worker did all that was left, or failed, or somebody cancelled it."""
        job = self.of(which, "pending", "running")
        link = self.model.links[job]
        if how == "cancelled":
            self.world.cancel(job)
        elif link.status == "running":
            left = [True] * (PLANNED - len(link.outcomes)) if how == "done" else []
            outcome = DONE if how == "done" else Failed(error_type="module_failed")
            self.tell(job, link.boot, link.attempt, left, outcome)
        link.status = how if link.live and (how == "cancelled" or link.status == "running") else link.status

    @rule(boot=BOOTS)
    def lose(self, boot: str) -> None:
        """A worker is lost: its jobs wait for another, or have been lost too often."""
        gone = {event.job_id for event in self.world.lose(boot) if isinstance(event, JobFailed)}
        for name, link in self.model.links.items():
            if link.status == "running" and link.boot == boot:
                link.status = "failed" if name in gone else "pending"

    @precondition(has(*ALL))
    @rule(which=WHICH)
    def resume(self, which: int) -> None:
        """A customer has another job go on."""
        job, new_id = self.of(which, *ALL), self.name()
        expected = self.model.resume(job, new_id)
        events = resume(self.world, new_id, job)
        assert code(self.world) == expected
        assert any(isinstance(event, JobContinued) for event in events) == (not expected)

    @precondition(has("running"))
    @rule()
    def time_passes(self) -> None:
        """Run times come to their end."""
        self.wait(LIMIT_SECONDS)

    def wait(self, seconds: int) -> None:
        """Let seconds pass one by one, so that one job's run time ends at a time."""
        for _ in range(seconds):
            self._second()

    def _second(self) -> None:
        events, followed = self.world.after(1), 0
        for name, link in list(self.model.links.items()):
            if link.live and 0 < link.limit_at <= self.world.now:
                follows = self.model.time_out(name)
                went_on = [e.job_id for e in events if isinstance(e, JobContinued) and e.source_job_id == name]
                assert len(went_on) == follows
                for new_id in went_on:
                    self.model.go_on(name, new_id)
                followed += len(went_on)
        assert followed == sum(isinstance(event, JobContinued) for event in events)

    def tell(self, job: str, boot: str, attempt: int, outcomes: list[bool], outcome: Outcome | None = None) -> None:
        """Tell a chunk as the next one, with the plan before it."""
        link = self.model.links[job]
        parts: tuple[ItemsReport, ...] = (PLAN,)
        if outcomes:
            parts = (PLAN, chunk_of(link.chunks, len(link.outcomes), outcomes))
        events = tell(self.world, *parts, outcome=outcome, job_id=job, attempt=attempt, boot=boot)
        counts = self.model.record(job, boot, attempt, outcomes)
        assert any(isinstance(event, ItemsRecorded) for event in events) == (counts and bool(outcomes))
        if counts:
            self.told.append((job, boot, attempt, parts))

    @invariant()
    def every_job_has_what_the_model_says(self) -> None:
        """Statuses and counts."""
        for name, link in self.model.links.items():
            job, come = self.world.job(name), self.world.job(name).items
            assert job.status == STATUSES.get(link.status, link.status), (name, link)
            succeeded = sum(link.outcomes)
            if come is None:
                assert not link.planned
                continue
            assert bool(come.plan_ref) == link.planned
            assert (come.next_item, come.rows, come.errors) == (
                len(link.outcomes),
                succeeded,
                len(link.outcomes) - succeeded,
            )
            assert (come.resume_item, come.errors_before) == (
                link.resume_at,
                link.outcomes[: link.resume_at].count(False),
            )
            assert (come.source_job_id, come.link, come.begins_at) == (link.source, link.number, link.begins)
            assert come.chain_id == self.model.first_of(name)
            assert come.progressed == any(link.outcomes[link.begins :])

    @invariant()
    def each_planned_item_has_one_outcome_across_the_chunks_of_a_chain(self) -> None:
        """As whoever reads a job's items goes through them: no gap, no repeat."""
        recorded = [each.event for each in self.world.seen if isinstance(each.event, ItemsRecorded)]
        for name in self.model.links:
            come, at = self.world.job(name).items, 0
            for adopted in come.adopts if come else ():
                at = _read(recorded, adopted.job_id, at)[: adopted.chunks + 1][-1]
                assert adopted.next_item <= at
                at = adopted.next_item
            at = _read(recorded, name, at)[-1]
            assert at == (come.next_item if come else 0)

    @invariant()
    def one_job_at_most_goes_on_from_another_at_a_time(self) -> None:
        """Whoever asked, or by itself."""
        going_on = [link.source for name, link in self.model.links.items() if link.source and self._live(name)]
        assert len(going_on) == len(set(going_on))

    def _live(self, name: str) -> bool:
        return not self.world.job(name).terminal


def _read(recorded: list[ItemsRecorded], job_id: str, at: int) -> list[int]:
    """Return where each chunk of a job ends, from where its first one begins on."""
    ends = [at]
    for event in recorded:
        if event.job_id == job_id:
            assert (event.chunk, event.first_item) == (len(ends) - 1, ends[-1])
            ends.append(event.next_item)
    return ends


TestChains = ChainMachine.TestCase
TestChains.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
