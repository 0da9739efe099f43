"""Commands that set something of an org: each takes effect once, so that no late copy turns back what came after it.

A pause that is sent again because its answer was lost may land behind the resume that followed. It is known, since a
copy is the same to the byte and its id is nobody else's, for as long as idempotency keys are.
"""

import hashlib
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from schemas.credit_events import OrgPlanChanged
from schemas.events import (
    AnyEvent,
    OrgLimitChanged,
    OrgPaused,
    OrgResumed,
    WorkflowPaused,
    WorkflowResumed,
)
from services.ledger.commands import ChangeOrgLimit, ChangePlan
from services.ledger.pausing import PauseCommand
from services.ledger.queue_limits import known
from services.ledger.state import Ledger

SettingCommand: TypeAlias = ChangeOrgLimit | ChangePlan | PauseCommand
SettingEvent: TypeAlias = OrgLimitChanged | OrgPaused | OrgPlanChanged | OrgResumed | WorkflowPaused | WorkflowResumed
DIGEST_BYTES = 16


def once(ledger: Ledger, command: SettingCommand, events: list[AnyEvent]) -> list[AnyEvent]:
    """Return the events of a command, each with the digest of the command; none where it has taken effect before."""
    digest = hashlib.blake2b(msgspec.msgpack.encode(command), digest_size=DIGEST_BYTES).digest()
    if known(ledger, ledger.orgs[command.org_id], digest):
        return []
    return [replace(each, idempotency_digest=digest) if isinstance(each, SettingEvent) else each for each in events]
