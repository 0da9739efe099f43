"""Whether the stores are asked once more to forget a job that is gone when a worker tells of it after all.

Told by the events alone, written from the table in docs/state_machine.md.
"""

from dataclasses import dataclass

from schemas import events as e


@dataclass(slots=True)
class Forgetting:
    """Of which job the event before this one was such a report."""

    told_of: str = ""

    def tell(self, event: e.AnyEvent, *, gone: bool) -> str:
        """Go on by one event of a job that is gone, or not; return what is wrong with it, or nothing."""
        asked = isinstance(event, e.DeliveryRequested) and event.erase and event.job_id == self.told_of
        fault = f"a worker told of {self.told_of}, which is gone: this came first" if self.told_of and not asked else ""
        self.told_of = event.job_id if gone and isinstance(event, e.ReportRefused) else ""
        return fault
