"""Which events the next insert takes: planned before it is made, so that it can be made again exactly. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from msgspec import Struct

from services.runtime.raw_log import Checkpoint, RawEntry

PLACE = attrgetter("partition", "position")


class Range(Struct, frozen=True, gc=False):
    """Events of one partition: those behind `start`, up to `end`."""

    start: Checkpoint
    end: Checkpoint


class Plan(Struct, frozen=True):
    """One insert: its events by partition, and the token by which ClickHouse knows it again."""

    token: str
    ranges: Mapping[int, Range]

    @property
    def size(self) -> int:
        """How many events it takes; positions have no gap."""
        return sum(each.end.position - each.start.position for each in self.ranges.values())

    def includes(self, entry: RawEntry) -> bool:
        """Whether an event belongs to it."""
        planned = self.ranges.get(entry.partition)
        return planned is not None and planned.start.position < entry.position <= planned.end.position


def plan_of(token: str, checkpoints: Mapping[int, Checkpoint], entries: Iterable[RawEntry]) -> Plan:
    """Plan to insert these entries, which follow the checkpoints of their partitions."""
    ends = {entry.partition: entry for entry in entries}
    return Plan(token, {partition: Range(checkpoints[partition], end.checkpoint) for partition, end in ends.items()})


def split(plan: Plan, entries: Sequence[RawEntry]) -> tuple[list[RawEntry], list[RawEntry]]:
    """Return the entries of the plan in the order in which they are inserted, and the others."""
    taken, others = list[RawEntry](), list[RawEntry]()
    for entry in entries:
        (taken if plan.includes(entry) else others).append(entry)
    return sorted(taken, key=PLACE), others
