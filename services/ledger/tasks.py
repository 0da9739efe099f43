"""Tasks and deliveries: from the decider to workers and writers, in the same transaction as the events."""

from msgspec import Struct

from schemas.values import After, Vocabulary
from services.ledger.bounds import Int
from services.ledger.items import Items
from services.ledger.reports import Failed


class Resume(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """Where a walk goes on: all empty for a fresh job."""

    step: Int = 0  # ordinal of the next node visit within the job
    node_id: str = ""  # empty: at the entry
    try_number: Int = 1  # of the next try at that node
    body_ref: str = ""  # the body that the last finished node left
    content_type: str = ""
    saw_verdict: bool = False  # some branch so far was exhausted by a verdict of the validation gate
    saw_error: bool = False  # some branch so far was exhausted by a provider error
    items: Items | None = None  # of a module that has recorded anything, or goes on from another job


class Task(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """A job that may be claimed."""

    org_id: str
    job_id: str
    partition: Int  # of the ledger: where claims and reports go
    dispatch: Int
    vocabulary: Vocabulary
    workflow_ref: str
    private: bytes
    max_run_seconds: Int = 0
    traceparent: str = ""
    module: str = ""  # of a module job: its type


class Delivery(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """An extraction to be written to one destination, or the notice that its job has ended."""

    org_id: str
    job_id: str
    partition: Int
    destination_id: str
    kind: str
    generation: Int
    try_number: Int
    result_ref: str
    content_type: str
    extraction_ref: str
    domain: str = ""
    schema_id: str = ""
    data_type: str = ""
    items: Int = 0
    quality_completeness: float = 0.0
    quality_validation: float = 0.0
    quality_composite: float = 0.0
    latency_ms: Int = 0
    submitted_at: int = 0  # microseconds UTC
    extracted_at: int = 0  # microseconds UTC
    after: After = After.EXTRACTION  # COMPLETED, FAILED: a notice of that end
    ended_position: Int = 0  # of a job's end; a notice goes out once Postgres has folded so far
    ended_at: int = 0  # microseconds UTC
    failed: Failed | None = None  # why the job failed, without private bytes
    erase: bool = False  # the job was deleted: take away what the destination holds of it, and keep it away
    requested_at: int = 0  # microseconds UTC: when the ledger sent this try
    chain_id: str = ""  # of an erasure: the first job of the chain whose items are its too
    items_kept: bool = False  # of an erasure: other jobs of the chain refer to the items still


class DeliveryBatch(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """One record of a topic of deliveries: up to 100 deliveries of one ledger partition."""

    deliveries: tuple[Delivery, ...]
