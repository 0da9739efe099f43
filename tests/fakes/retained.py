"""The jobs of a read model in memory whose results are past retention, as Postgres finds them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from services.scheduler.retained import Overdue


@dataclass(slots=True)
class MemoryRetained:
    """`overdue` says what is past retention now; `fault` is raised instead of an answer."""

    overdue: Callable[[], Iterable[Overdue]]
    most_of_an_org: int = 2
    most: int = 3
    fault: Exception | None = None

    async def look(self, seen: Mapping[str, Overdue], away: Collection[int]) -> list[Overdue]:
        """Return some jobs past retention, by org those behind the last one seen, none of partitions that are away."""
        if self.fault:
            raise self.fault
        found: list[Overdue] = []
        taken = Counter[str]()
        for each in sorted(self.overdue(), key=lambda job: (job.org_id, job.place)):
            behind = each.org_id not in seen or each.place > seen[each.org_id].place
            if behind and each.partition not in away and taken[each.org_id] < self.most_of_an_org:
                taken[each.org_id] += 1
                found.append(each)
        return found[: self.most]
