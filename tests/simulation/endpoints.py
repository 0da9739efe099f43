"""Endpoints of webhooks in a partition: which only fail, which are disabled, and what may still be tried there.

Told by the events alone, written from docs/webhooks.md.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from schemas import events as e

SPAN_SECONDS = 6.0  # of nothing but failures, after which the simulation disables an endpoint
OURS = ("store_unavailable", "extraction_missing", "extraction_unreadable", "endpoint_closed")
Name: TypeAlias = tuple[str, str]  # org and endpoint


@dataclass(slots=True)
class Run:
    """Failures of one version of an endpoint since its last success."""

    version: int
    first_at: int
    last_type: str = ""


@dataclass(slots=True)
class Health:
    """What the events so far say of endpoints. Times are microseconds UTC."""

    runs: dict[Name, Run] = field(default_factory=dict)
    disabled: dict[Name, tuple[int, int]] = field(default_factory=dict)  # when, and which version
    asked: dict[tuple[str, str, int], int] = field(default_factory=dict)  # job, destination, generation -> when first

    def tell(self, event: e.AnyEvent, kind: str, at: int) -> str:
        """Go on by an event of a delivery to that kind of destination; return what is wrong with it, or nothing."""
        if kind != "webhook":
            return ""
        match event:
            case e.DeliveryRequested():
                self.asked.setdefault((event.job_id, event.destination_id, event.generation), at)
                late = event.try_number > 1 and self._before_the_end(event)
                return "tried again although its endpoint was disabled since it was asked for" if late else ""
            case e.DeliveryAcked():
                self.runs.pop(_name(event.org_id, event.destination_id), None)
            case e.DeliveryDeadLettered() if event.closed and not self._before_the_end(event):
                self.runs.pop(_name(event.org_id, event.destination_id), None)
            case e.DeliveryFailed() if event.error_type not in OURS:
                self._fail(_name(event.org_id, event.destination_id), event, at)
        return ""

    def disable(self, event: e.EndpointDisabled, at: int) -> str:
        """Go on by the end of an endpoint; return what is wrong with it, or nothing."""
        name = (event.org_id, event.webhook_id)
        run = self.runs.pop(name, None)
        _, version = self.disabled.get(name, (0, -1))
        self.disabled[name] = (at, event.endpoint_version)
        if event.endpoint_version <= version:
            return "disabled twice"
        if run is None or run.version != event.endpoint_version:
            return f"disabled as version {event.endpoint_version}, what failed is {run}"
        if event.reason == "gone":
            return "" if run.last_type == "gone" else f"gone, it said {run.last_type}"
        if event.first_failed_at != run.first_at:
            return f"failing since {event.first_failed_at}, first failed at {run.first_at}"
        return "" if at - run.first_at >= SPAN_SECONDS * 1_000_000 else "disabled before its span was over"

    def _before_the_end(self, event: e.DeliveryRequested | e.DeliveryDeadLettered) -> bool:
        """Whether a delivery was asked for before its endpoint was disabled: it says nothing of a later version."""
        closed, _ = self.disabled.get(_name(event.org_id, event.destination_id), (0, 0))
        return self.asked[event.job_id, event.destination_id, event.generation] <= closed

    def _fail(self, name: Name, event: e.DeliveryFailed, at: int) -> None:
        run, (_, closed) = self.runs.get(name), self.disabled.get(name, (0, -1))
        if event.endpoint_version <= closed or (run and event.endpoint_version < run.version):
            return
        if run is None or event.endpoint_version > run.version:
            run = self.runs[name] = Run(event.endpoint_version, at)
        run.last_type = event.error_type


def _name(org_id: str, destination_id: str) -> Name:
    return org_id, destination_id.partition(":")[0]
