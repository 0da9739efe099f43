"""A batch of events and the checkpoints it leads from and to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from projections.postgres.rows import Checkpoint, instant
from schemas.recorded import Recorded
from services.runtime.ledger_log import Entry


@dataclass(frozen=True, slots=True)
class Batch:
    """Events in the order of their partitions; `before` and `after` hold a checkpoint for each of these."""

    events: tuple[Recorded, ...]
    before: Mapping[int, Checkpoint]
    after: Mapping[int, Checkpoint]


def batch_of(checkpoints: Mapping[int, Checkpoint], entries: Iterable[Entry]) -> Batch:
    """Return the batch that these entries make of those checkpoints; what they had already folded is left out.

    An event of a type that this version does not know only moves the checkpoint, and so does an entry without event,
    which says how far there was nothing of ours behind the last one.
    """
    events: list[Recorded] = []
    after: dict[int, Checkpoint] = {}
    for entry in entries:
        last = after.get(entry.partition) or checkpoints[entry.partition]
        passed = not entry.event_type and entry.position == last.position and entry.next_offset > last.next_offset
        if entry.position <= last.position and not passed:
            continue
        occurred_at, cause = last.occurred_at, last.cause
        if entry.recorded is not None:
            events.append(entry.recorded)
            occurred_at, cause = instant(entry.recorded.header.occurred_at), entry.recorded.header.cause
        after[entry.partition] = Checkpoint(entry.partition, entry.position, entry.next_offset, occurred_at, cause)
    return Batch(tuple(events), {partition: checkpoints[partition] for partition in after}, after)
