"""The events about an org itself: what it may do, and what is held back."""

from typing import Annotated, TypeAlias

from schemas.credit_events import AccountEvent
from schemas.event import Event
from schemas.values import Micros, doc


class OrgRegistered(Event, frozen=True, kw_only=True, gc=False):
    """An org exists from here on, on this partition."""

    name: Annotated[str, doc("name for people")] = ""
    plan: Annotated[str, doc("plan of the org")] = ""
    max_in_flight: Annotated[int, doc("how many of its jobs may be dispatched or running at once")] = 0
    metered: Annotated[bool, doc("whether its jobs cost credits")] = False
    credits: Annotated[int, doc("the balance that it begins with")] = 0


class OrgLimitChanged(Event, frozen=True, kw_only=True, gc=False):
    """The operator changed the limits of an org; all of them are said."""

    max_in_flight: Annotated[int, doc("how many of its jobs may be dispatched or running at once")] = 0
    max_pending: Annotated[int, doc("how many of its jobs may be pending; 0: as the ledger's setting says")] = 0
    max_queue_seconds: Annotated[
        int, doc("how long a job waits for its first claim, where its submission does not say; 0: as the setting says")
    ] = 0
    retention_seconds: Annotated[
        int, doc("how long results are kept after the end of a job; 0: as the setting says")
    ] = 0
    idempotency_digest: Annotated[bytes, doc("16-byte digest of the command that led to it")] = b""


class OrgPaused(Event, frozen=True, kw_only=True, gc=False):
    """The operator paused an org: none of its jobs is dispatched until it is resumed; what runs goes on."""

    idempotency_digest: Annotated[bytes, doc("16-byte digest of the command that led to it")] = b""


class OrgResumed(Event, frozen=True, kw_only=True, gc=False):
    """The operator resumed an org."""

    idempotency_digest: Annotated[bytes, doc("16-byte digest of the command that led to it")] = b""


class WorkflowPaused(Event, frozen=True, kw_only=True, gc=False):
    """An org paused one of its workflows: no job of it is dispatched until it is resumed; what runs goes on."""

    workflow_id: Annotated[str, doc("the workflow")] = ""
    idempotency_digest: Annotated[bytes, doc("16-byte digest of the command that led to it")] = b""


class WorkflowResumed(Event, frozen=True, kw_only=True, gc=False):
    """An org resumed one of its workflows: its jobs stand where they stood in the queue."""

    workflow_id: Annotated[str, doc("the workflow")] = ""
    idempotency_digest: Annotated[bytes, doc("16-byte digest of the command that led to it")] = b""


class EndpointDisabled(Event, frozen=True, kw_only=True, gc=False):
    """An endpoint took nothing for too long, or wants nothing any more: what is queued for it is closed."""

    webhook_id: Annotated[str, doc("the endpoint")] = ""
    reason: Annotated[str, doc("failing: nothing but failures came of it for days; gone: it answered 410")] = ""
    first_failed_at: Annotated[Micros, doc("its first failure behind the last success")] = 0
    error_type: Annotated[str, doc("class of the last error")] = ""
    endpoint_version: Annotated[int, doc("which version of the endpoint, so that a later one stays enabled")] = 0


OrgEvent: TypeAlias = (
    OrgRegistered
    | OrgLimitChanged
    | OrgPaused
    | OrgResumed
    | WorkflowPaused
    | WorkflowResumed
    | EndpointDisabled
    | AccountEvent
)
