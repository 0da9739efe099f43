"""Scenarios 46 to 54, as far as jobs of the workflow vocabulary have them: no parallel branches, hence no joins.

49 (slots of one job) is about another vocabulary, and 52 (start-up of a spider) is in test_spider_verdicts.py.
"""

import contextlib
from collections.abc import Sequence

import pytest
from hypothesis import given, settings

from schemas.events import AnyEvent, JobFailed, NodeFinished
from schemas.values import NodeOutcome
from services.ledger.commands import AnyCommand, ResumeOrg, ResumeWorkflow
from services.ledger.delivery import DeliveryState
from services.ledger.job import Job
from services.ledger.reports import Extracted
from services.ledger.stale import matters
from services.ledger.status import Status
from services.workers.attempt import attempt
from services.workers.providers.protocol import Fetched, FetchResult, ProviderError
from services.workers.steps import Tools
from services.workers.workflows import Workflows
from tests.property.scripts import Lose, Wait, run, scripts
from tests.scenarios.one_job import running
from tests.unit.ledger.world import World, ack, node
from tests.unit.workers.fakes import (
    WORKFLOW_REF,
    MemoryBlobs,
    OneProvider,
    ScriptedProvider,
    broken,
    granted,
    page,
    service,
    task,
    workflow,
)

GONE = ProviderError("http_4xx", "the site answered 404", False, 404)
HEALTHY = "healthy"


async def walked(document: bytes, *answers: FetchResult) -> tuple[World, MemoryBlobs]:
    """Let a worker run a job with these answers of its providers, and the ledger decide what it reports."""
    world, blobs = running(), MemoryBlobs({WORKFLOW_REF: document})
    tools = Tools(OneProvider(ScriptedProvider(*answers)), blobs)
    async with contextlib.aclosing(attempt(tools, Workflows(blobs), task(), granted())) as reports:
        async for report in reports:
            world.report(report.outcome, *report.nodes)
    return world, blobs


def visits(world: World) -> list[tuple[str, str, str]]:
    """Node, outcome and edge of each visit."""
    told = [each.event for each in world.seen if isinstance(each.event, NodeFinished)]
    return [(event.node_id, str(event.outcome), event.edge) for event in told]


def failure(world: World) -> JobFailed:
    """How the job failed; once."""
    [failed] = [each.event for each in world.seen if isinstance(each.event, JobFailed)]
    assert world.status() is Status.FAILED
    return failed


# ---- 46 ----


@pytest.mark.parametrize(
    ("answers", "error_type", "node_id"),
    [
        ((GONE, GONE), "providers_exhausted", "b"),
        ((GONE, page(b"")), "providers_exhausted", "b"),
        ((page(b""), page(b"  \n ")), "validation_failed", "b"),
    ],
)
async def test_46_a_branch_that_fails_without_a_fail_edge_ends_the_job_at_once_and_names_its_node(
    answers: Sequence[FetchResult], error_type: str, node_id: str
) -> None:
    document = workflow(service("a"), service("b")).replace(b'{"source": "b", "target": "bad", "on": "fail"}, ', b"")
    assert b'"b", "target": "bad"' not in document
    world, _ = await walked(document, *answers)
    failed = failure(world)
    assert (failed.error_type, failed.node_id) == (error_type, node_id)
    assert visits(world)[-1][0::2] == ("b", "fail")
    assert "read" not in [node_id for node_id, *_ in visits(world)]  # what lies behind both never starts
    assert world.after(0) == []  # nothing is waited for


# ---- 47 ----


async def test_47_what_two_ways_lead_to_runs_once_and_the_job_is_done_only_after_it() -> None:
    world, _ = await walked(workflow(service("a", retries=1), service("b")), broken(), page())
    assert [node_id for node_id, *_ in visits(world)] == ["in", "a", "b", "read", "store", "out"]
    assert "NodeFinished" not in world.types()[world.types().index("JobExtracted") :]
    assert world.status() is Status.EXTRACTION_DONE
    world.settle(ack())
    assert world.status() is Status.COMPLETED


# ---- 50 ----

WORDS = b"<p>Please verify you are a human to go on. Complete the security check below.</p>"


def challenge(size: int) -> bytes:
    """Return a page of about this size that asks whether one is human."""
    head = b"<html><head><title>Just a moment...</title></head><body>" + WORDS
    filling = b"<script>var a=%d;</script>" % size
    return head + filling * max((size - len(head)) // len(filling), 0) + b"</body></html>"


@pytest.mark.parametrize(
    ("rule", "answer"),
    [
        ("captcha", page(challenge(150))),
        ("captcha", page(challenge(3_000))),
        ("captcha", page(challenge(60_000))),
        (
            "soft_404",
            page(b"<html><head><title>404 Not Found</title></head><body><h1>Page not found</h1></body></html>"),
        ),
        ("empty_body", page(b"")),
        ("empty_body", page(b" \r\n\t \n" * 50)),
    ],
)
async def test_50_a_page_that_is_none_is_no_success(rule: str, answer: Fetched) -> None:
    world, blobs = await walked(workflow(service("a")), answer)
    assert ("a", "refused", "fail") in visits(world)
    [refused] = [
        each.event
        for each in world.seen
        if isinstance(each.event, NodeFinished) and each.event.outcome is NodeOutcome.REFUSED
    ]
    assert (refused.rule, refused.error_type, refused.status_code) == (rule, "validation_failed", 200)
    failed = failure(world)
    assert (failed.error_type, failed.rule, failed.node_id) == ("validation_failed", rule, "a")
    assert not {"JobExtracted", "DeliveryRequested", "JobCompleted"} & set(world.types())
    assert set(blobs.blobs) == {WORKFLOW_REF}  # nothing of it is kept as a result


async def test_50_another_provider_that_gets_the_page_makes_it_a_result() -> None:
    world, _ = await walked(workflow(service("a"), service("b")), page(challenge(3_000)), page())
    assert visits(world)[1:4] == [
        ("a", "refused", "fail"),
        ("b", "succeeded", "success"),
        ("read", "succeeded", "success"),
    ]
    assert world.status() is Status.EXTRACTION_DONE


# ---- 54 ----


def dated(world: World, job: Job) -> bool:
    """Whether something is certain to move a job that has not ended: a lease, a date, or its turn in a queue."""
    mine = [each for each in world.ledger.timers if each.job_id == job.job_id and matters(world.ledger, each)]
    match job.status:
        case Status.RUNNING:
            return job.boot_id in world.ledger.workers
        case Status.PENDING if not job.task_out:
            org = world.ledger.orgs[job.org_id]
            return job.job_id in org.queues[job.vocabulary].in_order(world.ledger.jobs)
        case Status.WAITING_RETRY if not mine:  # due, and in its org's queue
            org = world.ledger.orgs[job.org_id]
            return job.job_id in org.queues[job.vocabulary].in_order(world.ledger.jobs)
        case _:
            return bool(mine)


def work(world: World, job: Job) -> list[AnyEvent]:
    """Do for a job what healthy workers and writers do."""
    if job.task_out:
        world.claim(job.job_id, HEALTHY, job.org_id)
        whose = {"job_id": job.job_id, "org_id": job.org_id, "boot": HEALTHY}
        return world.report(Extracted(result_ref="r"), node(job.resume.step), attempt=job.attempt + 1, **whose)
    waiting = [each for each in job.deliveries if each.state is DeliveryState.REQUESTED]
    acks = [
        ack(job.job_id, each.destination.destination_id, generation=each.generation, org_id=job.org_id)
        for each in waiting
    ]
    return world.settle(*acks) if acks else []


def resume_all(world: World) -> None:
    """Resume every org and workflow that is paused."""
    for org_id, org in list(world.ledger.orgs.items()):
        if org.paused:
            world.when(ResumeOrg(command_id="ro", org_id=org_id))
        for workflow_id in sorted(org.paused_workflows):
            world.when(ResumeWorkflow(command_id="rw", org_id=org_id, workflow_id=workflow_id))


@settings(max_examples=150, deadline=None)
@given(scripts)
def test_54_after_any_faults_no_job_stands_still(script: list[AnyCommand | Wait | Lose]) -> None:
    world = run(script)
    resume_all(world)  # what an operator has paused waits for them, and rightly
    for job in world.ledger.jobs.values():
        assert job.terminal or dated(world, job), job
    for boot_id in list(world.ledger.workers):
        world.lose(boot_id)  # those of the storm are gone
    for _ in range(40):
        world.after(60)
        for job in list(world.ledger.jobs.values()):
            work(world, world.ledger.jobs[job.job_id])
    assert [job for job in world.ledger.jobs.values() if not job.terminal] == []


def test_54_the_check_sees_a_job_that_stands_still() -> None:
    world = running()
    assert dated(world, world.job())
    world.ledger.workers.clear()
    assert not dated(world, world.job())
    world = World().extracted()
    assert dated(world, world.job())
    while world.ledger.timers.pop_due(world.now + 10**15):
        pass
    assert not dated(world, world.job())
