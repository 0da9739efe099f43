"""What workers and writers say in their commands: visits of nodes, ends of attempts, answers to deliveries."""

from typing import TypeAlias

from msgspec import Struct

from schemas.values import NodeOutcome
from services.ledger.bounds import Int


class NodeReport(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """One finished visit of a node; the fields of NodeFinished, times as durations of the worker's own clock."""

    step: Int
    node_id: str
    node_kind: str
    provider: str = ""
    try_number: Int = 1
    outcome: NodeOutcome = NodeOutcome.SUCCEEDED
    status_code: Int = 0
    error_type: str = ""
    rule: str = ""
    edge: str = ""
    next_node_id: str = ""
    latency_ms: Int = 0
    body_ref: str = ""
    content_type: str = ""
    body_bytes: Int = 0
    private: bytes = b""
    next_renders: bool = False  # the node that comes next calls a provider that is to render
    next_is_fallback: bool = False  # the node that comes next calls a provider because another one failed


class Planned(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The items that a job goes through; the fields of ItemsPlanned."""

    plan_ref: str
    planned: Int
    plan_bytes: Int = 0


class Chunk(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """A chunk of planned items that are done; the fields of ItemsRecorded.

    Of a spider, which plans nothing: as many items as rows, no errors and no outcomes.
    """

    chunk: Int
    items_ref: str
    rows_bytes: Int
    outcomes_bytes: Int
    stats_bytes: Int
    digest: bytes
    first_item: Int
    next_item: Int
    rows: Int
    errors: Int
    resume_item: Int = 0  # the planned item after the last in this chunk that succeeded; 0: none did
    errors_before: Int = 0  # how many in this chunk before that one did not succeed


class Logged(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Lines that a job said, in `private` or in a blob; the fields of JobLogged."""

    number: Int
    lines: Int
    private: bytes
    lines_ref: str = ""
    lines_bytes: Int = 0
    levels: tuple[Int, ...] = ()  # how many of debug, info, warning, error, critical


class Stats(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Statistics of a run so far, in `private`; the fields of StatsRecorded."""

    number: Int
    scraped: Int
    final: bool
    private: bytes
    routed: Int = 0


ItemsReport: TypeAlias = Planned | Chunk | Logged | Stats


class Extracted(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The walk ended in success; the fields of JobExtracted."""

    result_ref: str
    content_type: str = ""
    result_bytes: Int = 0
    extraction_ref: str = ""
    schema_id: str = ""
    data_type: str = ""
    items: Int = 0
    quality_completeness: float = 0.0
    quality_validation: float = 0.0
    quality_composite: float = 0.0


class Failed(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The walk ended in failure."""

    error_type: str
    rule: str = ""
    node_id: str = ""
    private: bytes = b""
    destination_id: str = ""  # without whose ACK the job failed


class RetryLater(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The node wants to be tried again after a while, without holding a slot."""

    node_id: str
    try_number: Int  # of the coming try
    delay_ms: Int
    error_type: str = ""


class HandedBack(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The worker stops and gives the job back to its queue."""


Outcome: TypeAlias = Extracted | Failed | RetryLater | HandedBack


class DeliveryResult(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """What came of one delivery. `error_type` empty: the destination holds it durably."""

    org_id: str
    job_id: str
    destination_id: str
    generation: Int
    try_number: Int = 1
    rows: Int = 0
    error_type: str = ""
    retryable: bool = True
    retry_after_ms: Int = 0
    private: bytes = b""
    closed: bool = False  # the destination was deleted or disabled: no try can succeed
    endpoint_version: Int = 0  # of a webhook: which version of its endpoint was tried
    place: str = ""  # where the rows were written, such as schema.table
