"""The scheduler against the real rules: each due time once, none lost, by a clock that the test sets."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import psycopg
import pytest

from api.config.schedules import DueSchedule, Schedule
from api.errors import Problem
from api.schedules.plan import Missed
from schemas.events import JobSubmitted, ScheduleFired
from schemas.values import FireKind, FireOutcome
from services.ledger.commands import AnyCommand, FireSchedule, SubmitJobs
from services.ledger.replies import Reply
from services.ledger.wire import COMMANDS
from services.runtime.errors import KeysAway, LedgerUnavailable
from services.runtime.health import Progress
from services.scheduler.book import Look
from services.scheduler.scheduler import Limits, Scheduler
from tests.fakes.book import Made, MemoryBook
from tests.unit.ledger.world import World

NOON = datetime(2027, 1, 15, 12, tzinfo=UTC)  # a few hours after the ledger's own clock begins
HOUR = timedelta(hours=1)
LIMITS = Limits(grace=timedelta(seconds=60), catch_up=3, poll_seconds=1.0)


class Death(Exception):
    """The process ends here."""


class Ledger:
    """The real rules behind an Asker; `silent` partitions do not answer, `deaf` ones do not even hear."""

    boot_id = "me"

    def __init__(self) -> None:
        self.worlds = {partition: World().org() for partition in (0, 1)}
        self.silent: set[int] = set()
        self.deaf: set[int] = set()
        self.asked: list[AnyCommand] = []

    async def tell(self, partition: int, command: AnyCommand) -> None:
        """Decide a command."""
        self.worlds[partition].when(command)

    async def ask(self, partition: int, command: AnyCommand, timeout: float | None = None, again: Any = None) -> Reply:  # noqa: ASYNC109
        """Decide a command and answer, or be silent about it."""
        self.asked.append(command)
        command = COMMANDS.decode(COMMANDS.encode(command))  # as it comes out of Kafka
        await asyncio.sleep(0)
        if partition not in self.deaf:
            self.worlds[partition].when(command)
        if partition in self.silent | self.deaf:
            raise LedgerUnavailable(f"the decider of partition {partition} did not answer")
        return Reply(command_id=command.command_id, requester=self.boot_id, body=self.worlds[partition].reply)

    def on_unasked(self, callback: Any) -> None:
        """Nobody says anything unasked here."""

    def fires(self, partition: int = 0) -> list[ScheduleFired]:
        """Return every fire in the log."""
        return [each.event for each in self.worlds[partition].seen if isinstance(each.event, ScheduleFired)]

    def jobs(self, partition: int = 0) -> list[str]:
        """Return every job in the log."""
        return [each.event.job_id for each in self.worlds[partition].seen if isinstance(each.event, JobSubmitted)]


class Setup:
    """A book, a ledger, and a clock."""

    def __init__(self) -> None:
        self.now = NOON
        self.book, self.ledger = MemoryBook(lambda: self.now), Ledger()
        self.progress = Progress("schedules", lambda: 0.0)
        self.scheduler = self.another()

    def another(self) -> Scheduler:
        """Return one more scheduler of the same schedules."""
        return Scheduler(self.book, self.ledger, LIMITS, self.progress)

    def hourly(self, missed: Missed = "once", schedule_id: str = "sch-1", partition: int = 0) -> DueSchedule:
        """Put a schedule that is due at every full hour, next at noon."""
        return self.book.put(
            DueSchedule(
                org_id="acme",
                schedule_id=schedule_id,
                version=1,
                name="hourly",
                cron="0 * * * *",
                timezone="UTC",
                work={},
                tags=[],
                missed=missed,
                enabled=True,
                next_run_at=NOON,
                created_at=NOON - HOUR,
                updated_at=NOON - HOUR,
                partition=partition,
            )
        )

    def fail(self, schedule_id: str, error: Exception) -> Made:
        """Let no submission be made of a schedule; return what made them before."""
        before = self.book.made

        def made(schedule: Schedule, asks: Mapping[str, Any]) -> SubmitJobs:
            if schedule.schedule_id == schedule_id:
                raise error
            return before(schedule, asks)

        self.book.made = made
        return before

    async def look(self, *schedulers: Scheduler) -> None:
        """Let schedulers look once, side by side, and fire what they find."""
        async with asyncio.TaskGroup() as rounds:
            await asyncio.gather(*(each.look(rounds) for each in schedulers or (self.scheduler,)))

    def next_run_at(self, schedule_id: str = "sch-1") -> datetime | None:
        """Return the due time that is waited for."""
        return self.book.schedules[schedule_id].next_run_at


def micros(at: datetime) -> int:
    """Return microseconds since 1970."""
    return int(at.timestamp()) * 1_000_000


async def test_what_is_due_is_fired_and_moved_on() -> None:
    setup = Setup()
    setup.hourly()
    await setup.look()
    await setup.look()
    [fire] = setup.ledger.fires()
    assert (fire.due_at, fire.how, fire.outcome) == (micros(NOON), FireKind.CRON, FireOutcome.SUBMITTED)
    assert setup.ledger.jobs() == list(fire.job_ids)
    assert setup.next_run_at() == NOON + HOUR
    assert len(setup.ledger.asked) == 1


async def test_a_ledger_that_was_silent_has_fired_once_when_it_is_asked_again() -> None:
    setup = Setup()
    setup.hourly()
    setup.ledger.silent = {0}
    await setup.look()
    assert setup.next_run_at() == NOON  # the answer is not known: it is not moved on
    assert setup.progress.state()["ready"] is True  # of the look before
    await setup.look()
    assert "partition 0" in setup.progress.state()["reason"]
    setup.ledger.silent = set()
    await setup.look()
    await setup.look()
    assert len(setup.ledger.fires()) == len(setup.ledger.jobs()) == 1
    assert setup.next_run_at() == NOON + HOUR
    assert setup.progress.state()["ready"] is True


@pytest.mark.parametrize("missed", ["skip", "once", "all"])
async def test_due_times_that_a_lost_answer_told_of_are_counted_once(missed: Missed) -> None:
    setup = Setup()
    setup.hourly(missed)
    setup.ledger.silent = {0}  # it decides, and nobody hears of it
    for hours in (3, 4, 4, 9):
        setup.now = NOON + hours * HOUR + timedelta(minutes=30)
        await setup.look()
    setup.ledger.silent = set()
    setup.now = NOON + 11 * HOUR
    await setup.look()
    assert sum(fire.due_times for fire in setup.ledger.fires()) == 12  # noon to eleven


async def test_killed_between_fire_and_moving_on_it_fires_nothing_twice() -> None:
    setup = Setup()
    setup.hourly()

    class Killed(MemoryBook):
        """Dies before it has moved the schedule on."""

        async def advance(self, schedule: Schedule, next_run_at: datetime | None) -> None:
            raise Death

    dying = Killed(lambda: setup.now, schedules=setup.book.schedules)
    with pytest.raises(ExceptionGroup) as died:
        await setup.look(Scheduler(dying, setup.ledger, LIMITS, setup.progress))
    assert died.group_contains(Death)
    assert setup.next_run_at() == NOON
    setup.now += timedelta(minutes=30)  # somebody starts it again, late: what was fired is not made up for
    await setup.look()
    assert [fire.due_at for fire in setup.ledger.fires()] == [micros(NOON)]
    assert setup.next_run_at() == NOON + HOUR


async def test_any_number_of_schedulers_fire_each_due_time_once() -> None:
    setup = Setup()
    for number in range(5):
        setup.hourly("all", f"sch-{number}")
    others = [setup.another() for _ in range(3)]
    for hours in (0, 1, 3, 3, 7):
        setup.now = NOON + hours * HOUR
        await setup.look(setup.scheduler, *others)
    await setup.look(*others)
    fired = [(fire.schedule_id, fire.due_at) for fire in setup.ledger.fires()]
    assert len(fired) == len(set(fired))
    named = [job_id for fire in setup.ledger.fires() for job_id in fire.job_ids]
    assert sorted(named) == sorted(setup.ledger.jobs())
    for number in range(5):
        stood_for = [fire.due_times for fire in setup.ledger.fires() if fire.schedule_id == f"sch-{number}"]
        assert sum(stood_for) == 8  # noon to seven


@pytest.mark.parametrize(
    ("missed", "expected"),
    [
        ("skip", [(5, 6, FireOutcome.SKIPPED), (6, 1, FireOutcome.SUBMITTED)]),
        ("once", [(5, 6, FireOutcome.SUBMITTED), (6, 1, FireOutcome.SUBMITTED)]),
        (
            "all",
            [
                (2, 3, FireOutcome.SKIPPED),
                *((hours, 1, FireOutcome.SUBMITTED) for hours in (3, 4, 5)),
                (6, 1, FireOutcome.SUBMITTED),
            ],
        ),
    ],
)
async def test_missed_due_times_follow_the_policy_and_the_schedule_goes_on(
    missed: Missed, expected: list[tuple[int, int, FireOutcome]]
) -> None:
    setup = Setup()
    setup.hourly(missed)
    setup.now = NOON + 6 * HOUR + timedelta(seconds=30)
    await setup.look()
    fires, hour = setup.ledger.fires(), micros(NOON + HOUR) - micros(NOON)
    assert [((fire.due_at - micros(NOON)) // hour, fire.due_times, fire.outcome) for fire in fires] == expected
    assert [fire.how for fire in setup.ledger.fires()][-1] is FireKind.CRON
    assert {fire.how for fire in setup.ledger.fires()[:-1]} == {FireKind.MISSED}
    setup.now = NOON + 7 * HOUR
    await setup.look()
    assert (setup.ledger.fires()[-1].due_at, setup.ledger.fires()[-1].how) == (micros(setup.now), FireKind.CRON)


async def test_a_refused_fire_is_recorded_once_and_the_next_one_goes_on() -> None:
    setup = Setup()
    setup.hourly()
    good = setup.fail("sch-1", Problem("unknown_workflow", "no published workflow is called so", field="workflowId"))
    for _ in range(5):
        await setup.look()
    assert [(fire.outcome, fire.code) for fire in setup.ledger.fires()] == [(FireOutcome.REFUSED, "unknown_workflow")]
    assert len(setup.ledger.asked) == 1  # nothing spins
    setup.book.made = good
    setup.now += HOUR
    await setup.look()
    assert [fire.outcome for fire in setup.ledger.fires()][1:] == [FireOutcome.SUBMITTED]


async def test_a_schedule_that_we_cannot_read_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    setup = Setup()
    setup.hourly(schedule_id="sch-1")
    setup.hourly(schedule_id="sch-2")
    setup.fail("sch-1", KeyError("https://shop.example/what-the-customer-wants"))
    await setup.look()
    assert setup.next_run_at("sch-1") == NOON + HOUR
    assert {fire.schedule_id: fire.code for fire in setup.ledger.fires()} == {"sch-1": "internal", "sch-2": ""}
    assert "what-the-customer-wants" not in caplog.text


@pytest.mark.parametrize("unknown", [{"timezone": "Mars/Olympus"}, {"cron": "every noon"}])
async def test_a_schedule_whose_times_are_unknown_here_stops_no_other_and_is_not_lost(unknown: dict[str, str]) -> None:
    setup = Setup()
    good = setup.hourly(schedule_id="sch-1")
    setup.hourly(schedule_id="sch-2")
    setup.book.put(replace(good, **unknown))  # type: ignore[arg-type]
    await setup.look()
    await setup.look()
    assert [fire.schedule_id for fire in setup.ledger.fires()] == ["sch-2"]
    assert "sch-1" in setup.progress.state()["reason"]
    setup.book.put(good)
    await setup.look()
    assert [fire.schedule_id for fire in setup.ledger.fires()] == ["sch-2", "sch-1"]


async def test_a_fire_that_no_decider_could_read_is_recorded_as_a_fault_of_ours() -> None:
    setup = Setup()
    setup.hourly()
    good = setup.book.made
    setup.book.made = lambda schedule, asks: msgspec.structs.replace(good(schedule, asks), priority=2**60)
    await setup.look()
    assert [(fire.outcome, fire.code) for fire in setup.ledger.fires()] == [(FireOutcome.REFUSED, "internal")]


async def test_an_org_whose_keys_are_away_holds_up_no_other_and_its_fire_comes_later() -> None:
    setup = Setup()
    setup.hourly(schedule_id="sch-1")
    setup.hourly(schedule_id="sch-2")
    good = setup.fail("sch-1", KeysAway("the keys are away"))
    for _ in range(2):
        await setup.look()
    assert [fire.schedule_id for fire in setup.ledger.fires()] == ["sch-2"]
    assert "the keys are away" in setup.progress.state()["reason"]
    setup.book.made = good
    await setup.look()
    assert [fire.schedule_id for fire in setup.ledger.fires()] == ["sch-2", "sch-1"]


async def test_a_partition_whose_decider_is_away_holds_up_no_other() -> None:
    setup = Setup()
    setup.hourly(schedule_id="sch-0", partition=0)
    setup.hourly(schedule_id="sch-1", partition=1)
    setup.ledger.deaf = {0}
    await setup.look()
    assert (setup.next_run_at("sch-0"), setup.next_run_at("sch-1")) == (NOON, NOON + HOUR)
    setup.ledger.deaf = set()
    await setup.look()
    assert len(setup.ledger.fires(0)) == len(setup.ledger.fires(1)) == 1


async def test_a_schedule_that_is_not_answered_for_lets_others_go_first() -> None:
    setup = Setup()
    setup.hourly(schedule_id="sch-0")
    setup.hourly(schedule_id="sch-1")
    answer = setup.ledger.ask

    async def ask(partition: int, command: AnyCommand, timeout: float | None = None, again: Any = None) -> Reply:  # noqa: ASYNC109
        if isinstance(command, FireSchedule) and command.schedule_id == "sch-0":
            raise LedgerUnavailable("a command that nobody answers")
        return await answer(partition, command)

    setup.ledger.ask = ask  # type: ignore[method-assign]
    for _ in range(2):
        await setup.look()
    assert [fire.schedule_id for fire in setup.ledger.fires()] == ["sch-1"]


async def test_a_store_that_is_away_turns_it_red_and_loses_nothing() -> None:
    setup = Setup()
    setup.hourly()
    setup.book.fault = psycopg.OperationalError("the server is away")
    await setup.look()
    assert setup.progress.state()["reason"] == "Postgres does not say what is due: OperationalError", "not its text"
    setup.book.fault = None
    await setup.look()
    assert len(setup.ledger.fires()) == 1
    assert setup.progress.state()["ready"] is True


@pytest.mark.parametrize("change", ["disabled", "deleted", "cron"])
async def test_a_fire_under_way_is_carried_out_whatever_becomes_of_its_schedule(change: str) -> None:
    setup = Setup()
    before = setup.hourly()

    class Slow(MemoryBook):
        """Somebody changes the schedule between the look and the fire."""

        async def look(self, busy: Any) -> Look:
            found = await super().look(busy)
            match change:
                case "disabled":
                    self.put(replace(before, version=2, enabled=False, next_run_at=None))
                case "deleted":
                    del self.schedules["sch-1"]
                case _:
                    self.put(replace(before, version=2, cron="30 * * * *", next_run_at=NOON + HOUR / 2))
            return found

    slow = Slow(lambda: setup.now, schedules=setup.book.schedules)
    await setup.look(Scheduler(slow, setup.ledger, LIMITS, setup.progress))
    assert [fire.due_at for fire in setup.ledger.fires()] == [micros(NOON)]
    after = setup.book.schedules.get("sch-1")
    assert (after and after.next_run_at) == {"disabled": None, "deleted": None, "cron": NOON + HOUR / 2}[change]
    setup.now = NOON + HOUR / 2
    await setup.look()
    assert len(setup.ledger.fires()) == (2 if change == "cron" else 1)
