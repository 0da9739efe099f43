"""The sweep for results past retention, by the real rules: each is asked about; a partition that is away waits."""

import asyncio
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import msgspec
import psycopg

from schemas.events import JobExpired
from services.ledger.commands import AnyCommand, ExpireJob, RedeliverJob
from services.ledger.policy import SECOND, Policy
from services.ledger.replies import Reply
from services.ledger.wire import COMMANDS
from services.runtime.errors import LedgerUnavailable
from services.runtime.health import Progress
from services.scheduler.retained import Overdue
from services.scheduler.retention import AT_ONCE, Retention
from tests.fakes.retained import MemoryRetained
from tests.unit.ledger.world import EXTRACTED, World, ack

KEPT = 60  # seconds
PLACE = "internal-postgres"


class Ledger:
    """The real rules behind an Asker; `silent` partitions do not answer."""

    boot_id = "me"

    def __init__(self) -> None:
        self.worlds = {partition: World(Policy(retention=KEPT * SECOND)) for partition in (0, 1)}
        self.silent: set[int] = set()
        self.asked: list[ExpireJob] = []
        self.at_once, self.most_at_once = Counter[int](), Counter[int]()

    async def tell(self, partition: int, command: AnyCommand) -> None:
        """Nothing is told."""
        raise AssertionError

    async def ask(self, partition: int, command: AnyCommand, timeout: float | None = None) -> Reply:  # noqa: ASYNC109
        """Decide a command and answer, or be silent about it."""
        assert isinstance(command, ExpireJob)
        self.asked.append(command)
        self.at_once[partition] += 1
        self.most_at_once[partition] = max(self.most_at_once[partition], self.at_once[partition])
        await asyncio.sleep(0)
        self.at_once[partition] -= 1
        if partition in self.silent:
            raise LedgerUnavailable("no decider")
        world = self.worlds[partition]
        world.when(COMMANDS.decode(COMMANDS.encode(command)))
        return Reply(command_id=command.command_id, requester=self.boot_id, body=world.reply)

    def on_unasked(self, callback: Any) -> None:
        """Nobody says anything unasked here."""

    def expired(self) -> list[str]:
        """Return the jobs whose results have expired."""
        seen = [each.event for world in self.worlds.values() for each in world.seen]
        return sorted(event.job_id for event in seen if isinstance(event, JobExpired))


class Setup:
    """Completed jobs of two orgs, each on its partition, and a read model that has all of them."""

    def __init__(self, jobs: int) -> None:
        self.ledger = Ledger()
        self.names = {0: [f"a{number}" for number in range(jobs)], 1: [f"b{number}" for number in range(jobs)]}
        for (partition, names), org in zip(self.names.items(), ("acme", "beta"), strict=True):
            world = self.ledger.worlds[partition].org(org, cap=jobs)
            world.announce(slots=jobs)
            world.submit(*names, org_id=org)
            for name in names:
                world.claim(name, org_id=org)
                world.report(EXTRACTED, job_id=name, org_id=org)
                world.settle(msgspec.structs.replace(ack(name), org_id=org))
        self.retained = MemoryRetained(self.overdue)
        self.progress = Progress("retention")
        self.retention = Retention(self.retained, self.ledger, 60.0, self.progress)

    def overdue(self) -> list[Overdue]:
        """What the read model would find, all of it as old as can be."""
        return [
            Overdue(job.org_id, job.job_id, partition, datetime.fromtimestamp(job.ending.at / SECOND, UTC))
            for partition, world in self.ledger.worlds.items()
            for job in world.ledger.jobs.values()
            if not job.expired
        ]

    def later(self, seconds: int) -> None:
        """Let time pass everywhere."""
        for world in self.ledger.worlds.values():
            world.now += seconds * SECOND

    def sweep(self) -> str:
        """Sweep once."""
        return asyncio.run(self.retention.sweep())


def test_every_job_is_asked_about_once_a_sweep_a_few_at_a_time() -> None:
    setup = Setup(2 * AT_ONCE + 1)
    setup.retained.most_of_an_org = setup.retained.most = 1000
    setup.later(KEPT)
    assert setup.sweep() == ""
    assert setup.ledger.expired() == sorted(setup.names[0] + setup.names[1])
    assert len(setup.ledger.asked) == len(setup.ledger.expired())
    assert set(setup.ledger.most_at_once.values()) == {AT_ONCE}
    assert setup.sweep() == ""
    assert len(setup.ledger.asked) == len(setup.ledger.expired())


def test_what_one_look_cuts_off_the_next_one_has() -> None:
    setup = Setup(5)
    setup.later(KEPT)
    setup.sweep()
    assert setup.ledger.expired() == sorted(setup.names[0] + setup.names[1])


def test_a_sweep_gets_past_jobs_that_cannot_expire_yet_and_asks_about_them_again() -> None:
    setup = Setup(3)
    setup.later(KEPT)
    world = setup.ledger.worlds[0]
    for name in ("a0", "a1"):
        redeliver = RedeliverJob(command_id="d", org_id="acme", job_id=name, destination_id=PLACE, generation=2)
        world.when(redeliver)
    assert setup.sweep() == ""
    assert setup.ledger.expired() == ["a2", *setup.names[1]]
    for name in ("a0", "a1"):
        world.settle(ack(name, generation=2))
    setup.sweep()
    assert setup.ledger.expired() == [*setup.names[0], *setup.names[1]]


def test_an_org_whose_decider_keeps_results_for_longer_is_let_be_until_the_next_sweep() -> None:
    setup = Setup(20)
    assert setup.sweep() == ""
    assert Counter(each.org_id for each in setup.ledger.asked) == {"acme": 2, "beta": 1}  # one look
    setup.later(KEPT)
    setup.sweep()
    assert len(setup.ledger.expired()) == 40


def test_a_partition_whose_decider_is_away_holds_up_no_other_and_is_made_up_for() -> None:
    setup = Setup(5)
    setup.later(KEPT)
    setup.ledger.silent = {0}
    assert "partition 0" in setup.sweep()
    assert setup.progress.state()["ready"] is False
    assert setup.ledger.expired() == setup.names[1]
    setup.ledger.silent = set()
    assert setup.sweep() == ""
    assert setup.ledger.expired() == sorted(setup.names[0] + setup.names[1])


def test_without_postgres_nothing_expires_and_the_process_says_why() -> None:
    setup = Setup(1)
    setup.later(KEPT)
    setup.retained.fault = psycopg.OperationalError("down")
    assert "OperationalError" in setup.sweep()
    assert "OperationalError" in setup.progress.state()["reason"]
    setup.retained.fault = None
    assert setup.sweep() == ""
    assert setup.progress.state()["ready"] is True
