"""What customers do in one seed: orgs, jobs, cancels, new limits; a lost answer makes them ask again."""

import asyncio
import json
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from msgspec.structs import replace

from schemas.values import FireKind
from services.ledger.commands import (
    AnyCommand,
    ChangeOrgLimit,
    ChangePlan,
    FireSchedule,
    GrantCredits,
    NewJob,
    PauseOrg,
    PauseWorkflow,
    RegisterOrg,
    ResumeJob,
    ResumeOrg,
    ResumeWorkflow,
    SetCredits,
    SubmitJobs,
)
from services.ledger.replies import Done, Explained, Refused
from services.runtime.commander import Commander
from services.runtime.errors import LedgerUnavailable
from services.runtime.ids import uuid7
from services.runtime.settings import Settings
from services.runtime.time import now_micros
from services.runtime.topics import partition_of_org
from tests.simulation.broker import Broker
from tests.simulation.chaos import Chaos
from tests.simulation.houses import Houses
from tests.simulation.late import Late
from tests.simulation.modules import Modules
from tests.simulation.orders import Orders
from tests.simulation.places import chosen
from tests.simulation.schedules import TABLE, Schedules
from tests.simulation.spiders import Spiders
from tests.simulation.vandal import vandalise
from tests.simulation.vault import Vault

WORKFLOWS = ("v", "w")
ANSWER_SECONDS = 4.0
MOST_ORGS = 4
DELETED = 0.15  # of all jobs
NO_ROOM = ("queue_full", "quota_exhausted")  # how a submission of these customers may be refused
GRANTED = 0.3  # of the submissions that the operator does something about credits after
PAUSED = 0.3  # after so many of all submissions an org or a workflow is paused for a while


@dataclass(slots=True)
class Traffic:
    """The customers, and what they were told."""

    settings: Settings
    broker: Broker
    chaos: Chaos
    vault: Vault
    schedules: Schedules
    houses: Houses
    caps: dict[str, int] = field(default_factory=dict)
    accepted: dict[str, str] = field(default_factory=dict)  # job -> org, as answered
    cancelled: dict[str, str] = field(default_factory=dict)  # job -> org, as answered
    deleted: dict[str, str] = field(default_factory=dict)  # job -> org, as answered
    digests: dict[bytes, tuple[str, ...]] = field(default_factory=dict)  # idempotency digest -> ids as answered
    explained: list[tuple[int, int, str, Explained]] = field(default_factory=list)  # partition, position, job, answer
    long_under_way: set[str] = field(default_factory=set)  # jobs that call again and again
    complaints: list[str] = field(default_factory=list)
    junk: set[tuple[str, int, int]] = field(default_factory=set)  # topic, partition, offset of what is no message
    done: bool = False
    modules: Modules | None = None
    spiders: Spiders | None = None
    late: Late = field(init=False)
    _copies: asyncio.TaskGroup = field(init=False)
    _paused: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.late = Late(self.chaos)

    async def run(self) -> None:
        """Do everything, then say so."""
        commander = Commander(self.settings, "api")
        await commander.start()
        random = self.chaos.random
        orgs = [f"org-{number}" for number in range(random.randint(1, MOST_ORGS))]
        self.caps = {org: random.randint(1, 3) for org in orgs}
        async with asyncio.TaskGroup() as group:
            self._copies = group
            for org in orgs:
                group.create_task(self._customer(commander, org, random.randint(1, 4), group))
            group.create_task(vandalise(self.settings, self.broker, self.chaos, self.junk))
        await commander.close()
        self.done = True
        await asyncio.Event().wait()

    async def _customer(self, commander: Commander, org: str, submissions: int, others: asyncio.TaskGroup) -> None:
        random = self.chaos.random
        orders = Orders(self.chaos, partial(self._ask, commander), self.cancelled, self.deleted, self.complaints)
        balance = random.choice((None, None, 2, 6, 30))  # None: its jobs cost nothing
        plan = random.choice(("bi", "bi", "standard"))  # which has no ClickHouse
        register = RegisterOrg(command_id="", org_id=org, name=org, max_in_flight=self.caps[org], plan=plan)
        await self._ask(commander, replace(register, credits=balance))
        self.schedules.open(org)
        for kind in (self.modules, self.spiders):
            if kind and kind.active:
                others.create_task(kind.customer(org, partial(self._ask, commander)))
        async with asyncio.TaskGroup() as deletions:
            for number in range(submissions):
                await asyncio.sleep(random.uniform(0.0, self.chaos.weather.storm_seconds / 3))
                jobs = await self._submit(commander, org, number)
                for job in jobs:
                    if random.random() < DELETED:
                        deletions.create_task(orders.delete(org, job))
                    await orders.meddle(org, job, under_way_for_long=job in self.long_under_way)
                if random.random() < 0.3:
                    await self._trigger(commander, org, number)
                if random.random() < 0.15:
                    depth = random.choice((None, 0, 4))
                    limit = ChangeOrgLimit(
                        command_id="", org_id=org, max_in_flight=random.randint(1, 4), max_pending=depth
                    )
                    await self._ask(commander, limit)
                if random.random() < GRANTED:
                    await self._grant(commander, org, number)
                if random.random() < PAUSED:
                    deletions.create_task(self._pause(commander, org))

    async def _grant(self, commander: Commander, org: str, number: int) -> None:
        """The operator gives an org credits or sets its balance, perhaps twice under one key, or changes its plan."""
        random, named = self.chaos.random, {"command_id": "", "org_id": org}
        keyed: dict[str, Any] = {**named, "idempotency_digest": f"grant/{org}/{number}".encode().ljust(16)}
        given: AnyCommand = random.choice(
            (
                GrantCredits(**keyed, credits=random.randint(1, 5)),
                SetCredits(**keyed, credits=random.randint(0, 3)),
                ChangePlan(**named, plan=random.choice(("bi", "prepaid"))),
            )
        )
        for _ in range(random.choice((1, 1, 2))):
            await self._ask(commander, given)

    async def _pause(self, commander: Commander, org: str) -> None:
        """Pause the org or one of its workflows for some seconds, which never interrupts another pause of it."""
        random, workflow = self.chaos.random, self.chaos.random.choice(("", *WORKFLOWS))
        if (org, workflow) in self._paused:
            return
        self._paused.add((org, workflow))
        named = {"command_id": "", "org_id": org}
        pair: tuple[AnyCommand, AnyCommand] = (
            (PauseWorkflow(**named, workflow_id=workflow), ResumeWorkflow(**named, workflow_id=workflow))
            if workflow
            else (PauseOrg(**named), ResumeOrg(**named))
        )
        await self._ask(commander, pair[0])
        await asyncio.sleep(random.choice((0.3, 1.0, 3.0, 8.0)))
        await self._ask(commander, pair[1])
        self._paused.discard((org, workflow))

    async def _submit(self, commander: Commander, org: str, number: int) -> tuple[str, ...]:
        random = self.chaos.random
        digest = f"{org}/{number}".encode().ljust(16)
        count = random.choice((1, 1, 2, 4))
        workflow = random.choice(("short", "long", "long", "chain"))
        hint = "slow" if workflow == "chain" else random.choice(("p", "p", "p", "gone"))
        places = chosen(random) + self.houses.destination(org)
        submit = SubmitJobs(
            command_id="",
            org_id=org,
            jobs=(),
            workflow_id=random.choice(WORKFLOWS),
            workflow_version=1,
            workflow_ref=f"workflows/{workflow}",
            destinations=places if random.random() < 0.95 else (),
            max_run_seconds=random.choice((0, 0, 0, 6)),
            max_queue_seconds=random.choice((0, 0, 0, 0, 2, 5)),
            idempotency_digest=digest,
            request_digest=digest,
            jobs_behind=random.choice((0, 0, 0, 3)),  # they never come
        )
        ids: tuple[str, ...] = ()
        for click in range(2 if random.random() < 0.2 else 1):  # a second one comes as a request of its own
            names = [f"{org}-job-{number}{'ab'[click]}-{each}" for each in range(count)]
            texts = {name: _private(f"http://shop.example/{hint}/{name}") for name in names}
            jobs = (NewJob(job_id=name, private=self.vault.sealed((org, name), texts[name])) for name in names)
            told = await self._ask(commander, replace(submit, jobs=tuple(jobs)), may_be_refused=True)
            if not isinstance(told, Done):
                if not (isinstance(told, Refused) and told.code in NO_ROOM):
                    self.complaints.append(f"a submission of {org} was answered with {told}")
                continue
            ids = told.job_ids
            if self.digests.setdefault(digest, ids) != ids:
                self.complaints.append(f"{digest!r} was answered with {self.digests[digest]}, then with {ids}")
            self.accepted |= dict.fromkeys(ids, org)
        if workflow == "chain":
            self.long_under_way |= set(ids)
        return ids

    async def _trigger(self, commander: Commander, org: str, number: int) -> None:
        """Fire a schedule now, perhaps twice with one key; what its clock says is another matter."""
        digest = f"{org}/trigger/{number}".encode().ljust(16)
        submit = SubmitJobs(
            command_id="",
            org_id=org,
            jobs=(),
            workflow_id="w",
            workflow_version=1,
            workflow_ref="workflows/short",
            destinations=TABLE,
            idempotency_digest=digest,
            request_digest=digest,
            schedule_id=f"sch-{org}",
        )
        for click in range(self.chaos.random.choice((1, 1, 2))):
            name = f"{org}-fired-{number}{'ab'[click]}"
            private = self.vault.sealed((org, name), _private(f"http://shop.example/p/{name}"))
            job = NewJob(job_id=name, private=private)
            fire = FireSchedule(
                command_id="",
                org_id=org,
                schedule_id=f"sch-{org}",
                due_at=now_micros(),
                how=FireKind.TRIGGER,
                submission=replace(submit, jobs=(job,)),
            )
            told = await self._ask(commander, fire, may_be_refused=True)
            if not isinstance(told, Done):
                if not (isinstance(told, Refused) and told.code in NO_ROOM):
                    self.complaints.append(f"a trigger of {org} was answered with {told}")
                continue
            if self.digests.setdefault(digest, told.job_ids) != told.job_ids:
                self.complaints.append(f"{digest!r} was answered with {self.digests[digest]}, then {told.job_ids}")
            self.accepted |= dict.fromkeys(told.job_ids, org)

    async def _ask(self, commander: Commander, command: AnyCommand, may_be_refused: bool = False) -> Done:
        """Ask until there is an answer."""
        while True:
            asked = replace(command, command_id=uuid7(), requester=commander.boot_id, actor="api:k")
            self.vault.touch((command.org_id, job.job_id) for job in _new_jobs(command))
            self.late.note(asked)
            partition = partition_of_org(command.org_id, self.settings.partitions)
            try:
                reply = await commander.ask(partition, asked, ANSWER_SECONDS)
            except LedgerUnavailable:
                continue
            if self.late.copied(asked):
                self._copies.create_task(self.late.again(commander, partition, asked))
            if isinstance(reply.body, Refused) and not may_be_refused:
                self.complaints.append(f"{command} refused: {reply.body}")
                return Done()
            if isinstance(reply.body, Explained):
                self.explained.append((reply.partition, reply.position, command.job_id, reply.body))
            return reply.body  # type: ignore[return-value]


def _new_jobs(command: AnyCommand) -> tuple[NewJob, ...]:
    if isinstance(command, ResumeJob):
        return (command.new,)
    submission = command.submission if isinstance(command, FireSchedule) else command
    return submission.jobs if isinstance(submission, SubmitJobs) else ()


def _private(url: str) -> bytes:
    return b"\0" + json.dumps({"url": url}).encode()
