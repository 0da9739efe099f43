"""The state of a partition as it was at an earlier position, folded from the log: what the decider then decided by."""

import time
from contextlib import closing

from schemas.codec import Decoder
from services.ledger.apply import apply
from services.ledger.indexes import pop_due
from services.ledger.policy import Policy
from services.ledger.record import digest_of
from services.ledger.state import Ledger
from services.runtime.errors import LogGap
from services.runtime.ledger_log import Checkpoint, LedgerLog
from services.runtime.settings import Settings

READ_EVENTS = 10_000
POLL_SECONDS = 0.5
PATIENCE_SECONDS = 30.0  # without a single event


def state_at(settings: Settings, partition: int, decoder: Decoder, policy: Policy, position: int) -> Ledger:
    """Fold a partition up to a position, or raise LogGap where the log ends before it or has a hole."""
    ledger = Ledger(partition, policy)
    with closing(LedgerLog(settings, decoder, {partition: Checkpoint()})) as log:
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while ledger.position < position:
            entries = log.poll(min(READ_EVENTS, position - ledger.position), POLL_SECONDS)
            for entry in entries:
                if entry.recorded is None:
                    raise LogGap(f"position {entry.position}: an event type unknown to this version: upgrade")
                apply(ledger, entry.recorded, digest_of(entry.raw))
            if entries:
                give_up_at = time.monotonic() + PATIENCE_SECONDS
            elif log.at_end() or time.monotonic() > give_up_at:
                raise LogGap(f"partition {partition} ends at position {ledger.position}, before {position}")
    while pop_due(ledger, ledger.occurred_at):  # waits that were over then: their jobs are in line
        pass
    return ledger
