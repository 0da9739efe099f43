"""The events about an org's plan and credits that are not about one of its jobs."""

from typing import Annotated, TypeAlias

from schemas.event import Event
from schemas.values import Micros, doc


class OrgPlanChanged(Event, frozen=True, kw_only=True, gc=False):
    """The operator put an org on another plan; its balance stays."""

    plan: Annotated[str, doc("plan of the org from here on")] = ""
    metered: Annotated[bool, doc("whether its jobs cost credits from here on")] = False
    idempotency_digest: Annotated[bytes, doc("16-byte digest of the command that led to it")] = b""


class CreditsGranted(Event, frozen=True, kw_only=True, gc=False):
    """The operator gave an org credits, or set its balance; from here on its jobs cost credits."""

    credits: Annotated[int, doc("what was added to the balance; negative where it was set to less")] = 0
    idempotency_digest: Annotated[bytes, doc("16-byte digest of the operator's idempotency key")] = b""
    request_digest: Annotated[bytes, doc("16-byte digest of what was asked, beside the idempotency key")] = b""


class CreditsHeld(Event, frozen=True, kw_only=True, gc=False):
    """Credits were set aside for the jobs of a large submission that come in later commands."""

    hold_id: Annotated[bytes, doc("the idempotency digest of the submission's first command")] = b""
    credits: Annotated[int, doc("what was taken from the balance")] = 0
    expires_at: Annotated[Micros, doc("what is not used by then goes back to the balance")] = 0


class CreditsReleased(Event, frozen=True, kw_only=True, gc=False):
    """Credits set aside went back to the balance: the jobs that they were for follow, or they did not come in time."""

    hold_id: Annotated[bytes, doc("what they were set aside under")] = b""
    credits: Annotated[int, doc("what went back to the balance")] = 0


AccountEvent: TypeAlias = OrgPlanChanged | CreditsGranted | CreditsHeld | CreditsReleased
