"""A ledger of many live jobs, made as a decider makes it: events through their stored bytes into `apply`."""

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from schemas.avro_of import record_schema
from schemas.codec import Decoder, Encoder
from schemas.events import (
    EVENT_TYPES,
    AnyEvent,
    DeliveryRequested,
    JobClaimed,
    JobDispatched,
    JobExtracted,
    JobSubmitted,
    NodeFinished,
    OrgRegistered,
    RetryScheduled,
    WorkerAlive,
    WriterOpened,
)
from schemas.values import Destination, NodeOutcome
from services.ledger.apply import apply
from services.ledger.policy import HOUR, SECOND
from services.ledger.record import Moment, digest_of, record
from services.ledger.state import Ledger

START = 1_800_000_000 * SECOND
SPAN = 10 * HOUR  # over which the jobs were submitted
WORKERS = 100
PLACES = (
    Destination(destination_id="internal-postgres", kind="postgres"),
    Destination(destination_id="hook-0197f2a4c3", kind="webhook"),
    Destination(destination_id="notice-0197f2a4c3", kind="webhook", gating=False),
)
NUMBERS = {name: number for number, name in enumerate(EVENT_TYPES, start=1)}
NAMES = {number: name for name, number in NUMBERS.items()}


@dataclass(frozen=True, slots=True)
class Mix:
    """How many jobs of how many orgs, and what they are at; what is left over is pending."""

    jobs: int = 1_000_000
    orgs: int = 4_000
    running_percent: int = 2
    waiting_percent: int = 5
    extracted_percent: int = 5
    keys_percent: int = 70


@dataclass(slots=True)
class Built:
    """What the making took, and what it made."""

    events: int = 0
    apply_seconds: float = 0.0
    spec_bytes: int = 0  # of the private fields: url, input and metadata as they are stored


def build(ledger: Ledger, mix: Mix) -> Built:
    """Fold the events of all the jobs into a ledger."""
    encoder, decoder = Encoder(NUMBERS), Decoder(lambda number: record_schema(NAMES[number]))
    built = Built()
    clock = START
    for event, elapsed in _events(mix):
        clock += elapsed
        recorded = record(ledger, event, Moment(clock, built.events, "api:key"))
        stored = encoder.encode(recorded)
        decoded = decoder.decode(stored)  # as a restore gets it: nothing is shared with what came before
        assert decoded is not None
        digest = digest_of(stored)
        began = time.process_time()
        apply(ledger, decoded, digest)
        built.apply_seconds += time.process_time() - began
        built.events += 1
        if isinstance(event, JobSubmitted):
            built.spec_bytes += len(event.private)
    return built


def _events(mix: Mix) -> Iterator[tuple[AnyEvent, int]]:
    """Yield events, each with the time that passes before it."""
    yield WriterOpened(writer_id="decider"), 0
    for number in range(mix.orgs):
        yield OrgRegistered(org_id=_org_id(number), name=f"Org {number}", plan="standard", max_in_flight=5), 0
    for number in range(WORKERS):
        yield _alive(number), 0
    step = SPAN // mix.jobs
    for number in range(mix.jobs):
        for event in _events_of_job(mix, number):
            yield event, step if isinstance(event, JobSubmitted) else 0


def _events_of_job(mix: Mix, number: int) -> Iterator[AnyEvent]:
    submitted = _submitted(mix, number)
    yield submitted
    org_id, job_id = submitted.org_id, submitted.job_id
    kind = number // mix.orgs % 100  # so that each org has the whole mix
    at_work = mix.running_percent + mix.waiting_percent + mix.extracted_percent
    if kind >= at_work:
        return
    worker = number % WORKERS
    yield JobDispatched(org_id=org_id, job_id=job_id, kind="workflow", dispatch=1)
    yield JobClaimed(org_id=org_id, job_id=job_id, attempt=1, worker_id=f"worker-{worker}", boot_id=_boot_id(worker))
    yield _node(org_id, job_id)
    if kind < mix.running_percent:
        return
    if kind < mix.running_percent + mix.waiting_percent:
        due_at = START + SPAN + number % 3600 * SECOND
        yield RetryScheduled(org_id=org_id, job_id=job_id, attempt=1, node_id="fetch", try_number=2, due_at=due_at)
        return
    yield _extracted(org_id, job_id)
    for place in submitted.destinations:
        yield DeliveryRequested(
            org_id=org_id, job_id=job_id, attempt=1, destination_id=place.destination_id, kind=place.kind
        )


def _submitted(mix: Mix, number: int) -> JobSubmitted:
    org, host = number % mix.orgs, f"shop-{number % 20_000}.example"
    keyed = number * 7 % 100 < mix.keys_percent
    spec = (
        f'{{"url":"https://{host}/catalogue/products/{number:09d}?variant={number % 977}&ref=feed",'
        f'"input":{{"sku":"{number:09d}","country":"NL","currency":"EUR","depth":{number % 5}}},'
        f'"metadata":{{"batch":"nightly-{number // 10_000}","row":{number},"owner":"team-{org % 40}"}}}}'
    )
    return JobSubmitted(
        org_id=_org_id(org),
        job_id=_uuid("job", number),
        private=b"\0" + spec.encode(),
        workflow_id=f"products-{org % 3}",
        workflow_version=3,
        workflow_ref=f"workflows/{_org_id(org)}/products-{org % 3}/3",
        domain=host,
        priority=number % 3 - 1,
        max_run_seconds=3600,
        destinations=PLACES[: 1 + org % 3],
        idempotency_digest=uuid.uuid5(uuid.NAMESPACE_OID, f"key-{number}").bytes if keyed else b"",
        request_digest=uuid.uuid5(uuid.NAMESPACE_OID, f"request-{number}").bytes if keyed else b"",
    )


def _node(org_id: str, job_id: str) -> NodeFinished:
    return NodeFinished(
        org_id=org_id,
        job_id=job_id,
        attempt=1,
        node_id="entry",
        node_kind="entry",
        outcome=NodeOutcome.SUCCEEDED,
        edge="default",
        next_node_id="fetch",
        body_ref=f"{org_id}/{job_id}/1/body",
        content_type="text/html",
    )


def _extracted(org_id: str, job_id: str) -> JobExtracted:
    return JobExtracted(
        org_id=org_id,
        job_id=job_id,
        attempt=1,
        result_ref=f"{org_id}/{job_id}/1/body",
        content_type="text/html",
        result_bytes=48_213,
        extraction_ref=f"{org_id}/{job_id}/1/extraction",
        schema_id="product",
        data_type="product",
        items=1,
        quality_completeness=0.875,
        quality_validation=1.0,
        quality_composite=0.9375,
        latency_ms=2_345,
    )


def _alive(number: int) -> WorkerAlive:
    return WorkerAlive(
        worker_id=f"worker-{number}", boot_id=_boot_id(number), kind="workflow", slots=200, free_slots=200
    )


def _org_id(number: int) -> str:
    return f"org-{number:05d}"


def _boot_id(number: int) -> str:
    return _uuid("boot", number)


def _uuid(kind: str, number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{kind}-{number}"))
