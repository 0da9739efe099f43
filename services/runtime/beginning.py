"""Where to begin folding a partition: with the newest snapshot that is whole and of this log, else with nothing.

Without a snapshot the outcome is the same and takes longer, so whatever is wrong with one is told and counted, and
the one before it is tried.
"""

import logging
import time

from services.ledger.policy import Policy
from services.ledger.record import digest_of
from services.ledger.state import Ledger
from services.runtime import topics
from services.runtime.errors import BlobFault, LogGap
from services.runtime.metrics import count
from services.runtime.raw_log import Checkpoint
from services.runtime.reader import LogReader
from services.runtime.settings import Settings
from services.runtime.snapshots import Header, Snapshots, UnusableSnapshot

log = logging.getLogger(__name__)
ANYWHERE = 2**63 - 1  # an end of the log that no snapshot lies behind
LOOK_SECONDS = 10.0  # that the broker may take to show the event which a snapshot ends with


def beginning(
    settings: Settings, partition: int, policy: Policy, end_offset: int = ANYWHERE
) -> tuple[Ledger, Checkpoint]:
    """Return a state, and the checkpoint from which to go on folding."""
    snapshots = Snapshots(settings)
    for key in _keys(snapshots, partition):
        try:
            ledger, header = snapshots.load(key, partition, policy, end_offset)
            _find(settings, header)
        except UnusableSnapshot as why:
            _tell(partition, key, why)
        else:
            log.info("begun with a snapshot", extra={"partition": partition, "key": key, "jobs": header.jobs})
            return ledger, Checkpoint(header.position, header.event_offset + 1)
    return Ledger(partition, policy), Checkpoint()


def _keys(snapshots: Snapshots, partition: int) -> list[str]:
    try:
        return snapshots.newest_first(partition)
    except BlobFault as error:
        _tell(partition, "", UnusableSnapshot("unreadable", str(error)))
        return []


def _find(settings: Settings, header: Header) -> None:
    """Raise UnusableSnapshot where the log does not have the event that a snapshot ends with."""
    reader = LogReader(settings, topics.events(settings), {header.partition: header.event_offset})
    give_up_at = time.monotonic() + LOOK_SECONDS
    try:
        while not (records := reader.poll(1, 1.0)):
            if time.monotonic() > give_up_at:
                raise UnusableSnapshot("other_log", f"nothing is at offset {header.event_offset}")
    except LogGap as gap:
        raise UnusableSnapshot("other_log", str(gap)) from gap
    finally:
        reader.close()
    found = records[0]
    if found.offset != header.event_offset or digest_of(found.value) != header.event_hash:
        raise UnusableSnapshot("other_log", f"another event is at offset {header.event_offset}")


def _tell(partition: int, key: str, why: UnusableSnapshot) -> None:
    count("snapshots_refused", partition=str(partition), reason=why.reason)
    log.warning("snapshot not used", extra={"partition": partition, "key": key, "reason": str(why)})
