"""Events of the log as a caller may read them: private bytes unsealed where their job has its key still."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from schemas.recorded import Recorded
from services.runtime.ledger_log import Entry
from services.runtime.shredding.codec import JobKey, Keys, KeysOfJobs, is_sealed, revealed


async def readable(keys: KeysOfJobs, events: Sequence[Recorded]) -> list[Recorded]:
    """Return events with their private bytes unsealed; of a job without a key they stay closed."""
    found = await keys.of(_sealed(events))
    return [_opened(recorded, found) for recorded in events]


async def readable_entries(keys: KeysOfJobs, entries: Sequence[Entry]) -> list[Entry]:
    """Do so with entries of the log, whose stored bytes stay as they are."""
    found = await keys.of(_sealed(entry.recorded for entry in entries if entry.recorded))
    return [
        replace(entry, recorded=_opened(entry.recorded, found)) if entry.recorded and found else entry
        for entry in entries
    ]


def _sealed(events: Iterable[Recorded]) -> set[JobKey]:
    return {(each.event.org_id, each.event.job_id) for each in events if is_sealed(each.event.private)}


def _opened(recorded: Recorded, keys: Keys) -> Recorded:
    event = recorded.event
    private = revealed(event.private, (event.org_id, event.job_id), keys)
    return recorded if private is event.private else replace(recorded, event=replace(event, private=private))
