"""A copy of a command that lands behind whatever came since changes nothing: of every command there is."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from schemas.values import Destination
from services.ledger.commands import (
    AnnounceWorker,
    AnyCommand,
    CancelJob,
    ChangeOrgLimit,
    ChangePlan,
    ClaimTask,
    DeleteJob,
    ExpireJob,
    ExplainJob,
    FireSchedule,
    GrantCredits,
    NewJob,
    PauseOrg,
    PauseWorkflow,
    Probe,
    RedeliverJob,
    RegisterOrg,
    ReportProgress,
    ResumeJob,
    ResumeOrg,
    ResumeWorkflow,
    RetryNow,
    SetCredits,
    SettleDeliveries,
    SubmitJobs,
    WaiveDelivery,
)
from services.ledger.policy import SECOND, Policy
from services.ledger.reports import DeliveryResult, RetryLater
from tests.unit.ledger.modules import PLAN, chunk, running, tell
from tests.unit.ledger.world import EXTRACTED, POSTGRES, START, World, ack, failed_node, names, node

OF_ORG: dict[str, Any] = {"command_id": "once", "org_id": "acme"}
OF_JOB: dict[str, Any] = {**OF_ORG, "job_id": "j1"}
OF_WORKER: dict[str, Any] = {"worker_id": "w", "boot_id": "boot-1"}
LATER = RetryLater(node_id="n0", try_number=2, delay_ms=600_000)
HOOK = Destination(destination_id="hook", kind="webhook")
RETENTION = 90 * 24 * 3600
PAGE = (Path(__file__).parents[3] / "docs/commands.md").read_text()
Since = Callable[[World], object]  # what others do between a command and its copy


def fire(due: int, job_id: str) -> FireSchedule:
    submission = SubmitJobs(**OF_ORG, jobs=(NewJob(job_id=job_id),), schedule_id="s")
    return FireSchedule(**OF_ORG, schedule_id="s", due_at=START + due * SECOND, submission=submission)


def grant(kind: type[GrantCredits] | type[SetCredits], amount: int, key: bytes) -> AnyCommand:
    return kind(**OF_ORG, credits=amount, idempotency_digest=key * 16)


def again(command: AnyCommand) -> Since:
    return lambda world: world.when(command)


def submitted() -> World:
    world = World(Policy(spread_percent=0, retention=RETENTION * SECOND)).org()
    world.submit(destinations=(POSTGRES, HOOK))
    return world


def claimed() -> World:
    world = submitted()
    world.claim()
    return world


def waiting() -> World:
    world = claimed()
    world.report(LATER, failed_node(0))
    return world


def extracted() -> World:
    world = claimed()
    world.report(EXTRACTED, node(0))
    return world


def completed() -> World:
    world = extracted()
    world.settle(ack(), ack(destination="hook"))
    return world


def aged() -> World:
    world = completed()
    world.after(RETENTION + 1)
    return world


def stopped() -> World:
    world = running()
    tell(world, PLAN, chunk(0, 0, 10))
    world.cancel()
    return world


def waits_again(world: World) -> None:
    world.after(700)
    world.claim()
    world.report(LATER, failed_node(1), attempt=2)


def failed(destination: str, try_number: int = 1) -> DeliveryResult:
    return ack(destination=destination, error_type="http_500", retryable=True, try_number=try_number)


def redelivered(world: World) -> None:
    world.settle(ack(destination="hook"))
    world.when(RedeliverJob(command_id="g", org_id="acme", job_id="j1", destination_id="hook", generation=2))


def other(name: str, command: type[PauseOrg] | type[ResumeOrg]) -> AnyCommand:
    return command(command_id=name, org_id="acme")


def other_workflow(name: str, command: type[PauseWorkflow] | type[ResumeWorkflow]) -> AnyCommand:
    return command(command_id=name, org_id="acme", workflow_id="v")


RESUBMITTED = SubmitJobs(**OF_ORG, jobs=(NewJob(job_id="j2"),), idempotency_digest=b"k" * 16)
RETRIED = ReportProgress(**OF_JOB, **OF_WORKER, attempt=1, nodes=(failed_node(0),), outcome=LATER, actor="worker:w")
CASES: list[tuple[Callable[[], World], AnyCommand, Since]] = [
    (World, RegisterOrg(**OF_ORG, name="acme"), again(ChangeOrgLimit(command_id="x", org_id="acme", max_in_flight=1))),
    (
        submitted,
        ChangeOrgLimit(**OF_ORG, max_in_flight=1),
        again(ChangeOrgLimit(command_id="x", org_id="acme", max_in_flight=9)),
    ),
    (submitted, ChangePlan(**OF_ORG, plan="prepaid"), again(ChangePlan(command_id="x", org_id="acme", plan="bi"))),
    (submitted, PauseOrg(**OF_ORG), again(other("x", ResumeOrg))),
    (submitted, ResumeOrg(**OF_ORG), again(other("x", PauseOrg))),
    (submitted, PauseWorkflow(**OF_ORG, workflow_id="v"), again(other_workflow("x", ResumeWorkflow))),
    (submitted, ResumeWorkflow(**OF_ORG, workflow_id="v"), again(other_workflow("x", PauseWorkflow))),
    (submitted, grant(GrantCredits, 5, b"a"), again(grant(SetCredits, 1, b"b"))),
    (submitted, grant(SetCredits, 5, b"a"), again(grant(GrantCredits, 1, b"b"))),
    (submitted, RESUBMITTED, lambda world: world.delete("j2")),
    (stopped, ResumeJob(**OF_JOB, new=NewJob(job_id="j2")), lambda world: world.cancel("j2")),
    (submitted, fire(1, "j3"), again(fire(2, "j4"))),
    (submitted, CancelJob(**OF_JOB), lambda world: world.after(60)),
    (waiting, RetryNow(**OF_JOB, attempt=1), waits_again),
    (extracted, DeleteJob(**OF_JOB), lambda world: world.after(1)),
    (aged, ExpireJob(**OF_JOB), lambda world: world.after(1)),
    (submitted, ClaimTask(**OF_JOB, **OF_WORKER, dispatch=1), waits_again),
    (claimed, RETRIED, waits_again),
    (extracted, SettleDeliveries(command_id="once", results=(ack(), ack(destination="hook"))), redelivered),
    (
        extracted,
        SettleDeliveries(command_id="once", results=(failed("hook"),)),
        lambda world: world.after(600),  # it goes out once more, and that try is not answered yet
    ),
    (completed, RedeliverJob(**OF_JOB, destination_id="hook", generation=2), lambda world: world.after(1)),
    (extracted, WaiveDelivery(**OF_JOB, destination_id="hook", generation=1), redelivered),
    (
        completed,
        AnnounceWorker(command_id="once", **OF_WORKER, kind="workflow", slots=2, free_slots=2),
        lambda world: world.lose("boot-1"),
    ),
    (
        claimed,
        AnnounceWorker(command_id="once", **OF_WORKER, kind="workflow", slots=1, free_slots=1, stopping=True),
        lambda world: world.claim(boot="boot-2"),
    ),
    (submitted, Probe(command_id="once"), lambda world: world.after(1)),
    (submitted, ExplainJob(**OF_JOB), lambda world: world.after(1)),
]
NAMES = [f"{number} {type(command).__name__}" for number, (_, command, _) in enumerate(CASES)]


@pytest.mark.parametrize(("before", "command", "since"), CASES, ids=NAMES)
def test_a_copy_that_lands_behind_what_came_since_changes_nothing(
    before: Callable[[], World], command: AnyCommand, since: Since
) -> None:
    world = before()
    first = world.when(command)
    assert first or isinstance(command, (Probe, ExplainJob, ResumeOrg, ResumeWorkflow))
    since(world)
    jobs, orgs = dict(world.ledger.jobs), {name: _settings(world, name) for name in world.ledger.orgs}
    events = [name for name in names(world.when(command)) if name != "ReportRefused"]
    if isinstance(command, AnnounceWorker) and not command.stopping:
        assert events == ["WorkerAlive"], "a run that is over is heard once more, and owns nothing"
        assert not world.ledger.workers["boot-1"].jobs
        assert names(world.lose("boot-1")) == ["WorkerLost"]
        return
    assert events == []
    assert {name: _settings(world, name) for name in world.ledger.orgs} == orgs
    assert {name: (job.status, job.attempt, job.run) for name, job in world.ledger.jobs.items()} == {
        name: (job.status, job.attempt, job.run) for name, job in jobs.items()
    }


def _settings(world: World, org_id: str) -> tuple[object, ...]:
    org = world.ledger.orgs[org_id]
    return org.max_in_flight, org.paused, set(org.paused_workflows), org.account.balance, org.account.metered


def test_there_is_a_case_for_every_command_and_a_line_in_the_documentation() -> None:
    every = {command.__name__ for command in get_args(AnyCommand)}
    assert {type(command).__name__ for _, command, _ in CASES} == every
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == every
