"""The commands of many jobs of one partition, as API, workers and writers send them, made before anything is timed."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from schemas.values import Destination, NodeOutcome
from services.ledger.commands import (
    AnnounceWorker,
    AnyCommand,
    ClaimTask,
    NewJob,
    RegisterOrg,
    ReportProgress,
    SettleDeliveries,
    SubmitJobs,
)
from services.ledger.reports import DeliveryResult, Extracted, NodeReport

SLOTS = 1_000_000  # of the worker, and the cap of each org: nothing but the decider bounds the jobs
TOGETHER = 200  # jobs that are under way at once
ACKS_A_RECORD = 20
PLACE = Destination(destination_id="internal-postgres", kind="postgres")
WORKER, BOOT = "worker-1", str(uuid.uuid5(uuid.NAMESPACE_OID, "boot"))
ASKER = str(uuid.uuid5(uuid.NAMESPACE_OID, "asker"))
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@dataclass(frozen=True, slots=True)
class Work:
    """How many jobs of how many orgs."""

    jobs: int
    orgs: int = 50


def commands(work: Work) -> Iterator[AnyCommand]:
    """Yield all commands in the order in which they are decided."""
    for number in range(work.orgs):
        org_id = _org_id(number)
        yield RegisterOrg(command_id=_id("org", number), org_id=org_id, name=org_id, max_in_flight=SLOTS)
    for start in range(0, work.jobs, TOGETHER):
        yield _alive(start)
        jobs = [(_org_id(number % work.orgs), number) for number in range(start, min(start + TOGETHER, work.jobs))]
        yield from (_submit(org_id, number) for org_id, number in jobs)
        yield from (_claim(org_id, number) for org_id, number in jobs)
        yield from (_report(org_id, number, _way(org_id, number)[:2]) for org_id, number in jobs)
        yield from (_report(org_id, number, _way(org_id, number)[2:], _end(org_id, number)) for org_id, number in jobs)
        yield from (_settle(jobs[at : at + ACKS_A_RECORD]) for at in range(0, len(jobs), ACKS_A_RECORD))


def _alive(number: int) -> AnnounceWorker:
    return AnnounceWorker(
        command_id=_id("alive", number), worker_id=WORKER, boot_id=BOOT, kind="workflow", slots=SLOTS, free_slots=SLOTS
    )


def _submit(org_id: str, number: int) -> SubmitJobs:
    host = f"shop-{number % 500}.example"
    spec = f'{{"url":"https://{host}/products/{number:09d}","input":{{"sku":"{number:09d}","country":"NL"}}}}'
    return SubmitJobs(
        command_id=_id("submit", number),
        org_id=org_id,
        requester=ASKER,
        actor="api:key-0197f2a4c3",
        correlation_id=_id("request", number),
        traceparent=TRACE,
        jobs=(NewJob(job_id=_id("job", number), domain=host, private=b"\0" + spec.encode()),),
        workflow_id="products",
        workflow_version=3,
        workflow_ref=f"workflows/{org_id}/products/3",
        destinations=(PLACE,),
    )


def _claim(org_id: str, number: int) -> ClaimTask:
    return ClaimTask(
        command_id=_id("claim", number),
        org_id=org_id,
        job_id=_id("job", number),
        requester=BOOT,
        actor=f"worker:{WORKER}",
        traceparent=TRACE,
        dispatch=1,
        worker_id=WORKER,
        boot_id=BOOT,
    )


def _report(
    org_id: str, number: int, nodes: tuple[NodeReport, ...], outcome: Extracted | None = None
) -> ReportProgress:
    return ReportProgress(
        command_id=_id(f"report-{len(nodes)}-{outcome is None}", number),
        org_id=org_id,
        job_id=_id("job", number),
        actor=f"worker:{WORKER}",
        traceparent=TRACE,
        attempt=1,
        worker_id=WORKER,
        boot_id=BOOT,
        nodes=nodes,
        outcome=outcome,
    )


def _way(org_id: str, number: int) -> tuple[NodeReport, ...]:
    """Return the nodes that a job visits: entry, a provider, the extractor, the warehouse."""
    kept = f"{org_id}/{_id('job', number)}/1"
    passed = NodeOutcome.SUCCEEDED
    return (
        NodeReport(step=0, node_id="entry", node_kind="entry", outcome=passed, edge="default", next_node_id="fetch"),
        NodeReport(
            step=1,
            node_id="fetch",
            node_kind="service",
            provider="direct",
            outcome=passed,
            status_code=200,
            edge="success",
            next_node_id="extract",
            latency_ms=12,
            body_ref=f"{kept}/page-1",
            content_type="text/html; charset=utf-8",
            body_bytes=48_213,
        ),
        NodeReport(
            step=2,
            node_id="extract",
            node_kind="extractor",
            outcome=passed,
            edge="success",
            next_node_id="warehouse",
            latency_ms=3,
            body_ref=f"{kept}/extraction-2.json",
            content_type="application/json",
            body_bytes=412,
        ),
        NodeReport(step=3, node_id="warehouse", node_kind="warehouse", outcome=passed),
    )


def _end(org_id: str, number: int) -> Extracted:
    kept = f"{org_id}/{_id('job', number)}/1"
    return Extracted(
        result_ref=f"{kept}/page-1",
        content_type="text/html; charset=utf-8",
        result_bytes=48_213,
        extraction_ref=f"{kept}/extraction-2.json",
        schema_id="product",
        data_type="product",
        items=1,
        quality_completeness=0.875,
        quality_validation=1.0,
        quality_composite=0.9375,
    )


def _settle(jobs: list[tuple[str, int]]) -> SettleDeliveries:
    return SettleDeliveries(
        command_id=_id("settle", jobs[0][1]),
        actor="writer:writer-1",
        writer_id="writer-1",
        results=tuple(
            DeliveryResult(
                org_id=org_id,
                job_id=_id("job", number),
                destination_id=PLACE.destination_id,
                generation=1,
                rows=1,
                place="extraction.extraction_results",
            )
            for org_id, number in jobs
        ),
    )


def _org_id(number: int) -> str:
    return f"org-{number:05d}"


def _id(kind: str, number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{kind}-{number}"))
