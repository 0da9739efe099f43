"""Commands that set something of an org: each takes effect once, so that no late copy turns back what came after it.

A pause that is sent again because its answer was lost may land behind the resume that followed. It is known, since a
copy is the same to the byte and its id is nobody else's, for as long as idempotency keys are. That is why a command
that changes nothing, such as a pause while another one holds, is recorded all the same: else its copy would count.
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


def once(ledger: Ledger, command: SettingCommand, event: SettingEvent) -> list[AnyEvent]:
    """Return the event of a command with the digest of the command; none where it has taken effect before."""
    digest = hashlib.blake2b(msgspec.msgpack.encode(command), digest_size=DIGEST_BYTES).digest()
    known_before = known(ledger, ledger.orgs[command.org_id], digest)
    return [] if known_before else [replace(event, idempotency_digest=digest)]
