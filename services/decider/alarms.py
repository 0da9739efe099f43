"""Counts fires; raises the alarm about deliveries given up, endpoints disabled, and jobs that went on or ended so."""

import logging
from collections.abc import Iterable

from schemas.events import DeliveryDeadLettered, DeliveryWaived, EndpointDisabled, JobFailed, ScheduleFired
from schemas.recorded import Recorded
from services.runtime.metrics import count

log = logging.getLogger(__name__)


def raise_alarms(committed: Iterable[Recorded]) -> None:
    """Count and log what is to be counted among events that were just committed."""
    for recorded in committed:
        match recorded.event:
            case DeliveryDeadLettered() as event:
                count("deliveries_given_up", partition=str(recorded.header.partition), closed=str(event.closed).lower())
            case EndpointDisabled() as event:
                count("endpoints_disabled", partition=str(recorded.header.partition), reason=event.reason)
                told = {"org_id": event.org_id, "webhook_id": event.webhook_id, "error_type": event.error_type}
                log.warning("endpoint disabled", extra={"reason": event.reason, **told})
            case ScheduleFired() as event:
                place = str(recorded.header.partition)
                count("schedule_fires", partition=place, how=event.how.value, outcome=event.outcome.value)
            case DeliveryWaived() as event:
                _verdict(recorded, "waived", event.reason, event.destination_id)
            case JobFailed() as event if event.destination_id:
                _verdict(recorded, "failed", event.error_type, event.destination_id)


def _verdict(recorded: Recorded, verdict: str, reason: str, destination_id: str) -> None:
    header, event = recorded.header, recorded.event
    count("gate_verdicts", partition=str(header.partition), verdict=verdict, reason=reason)
    log.warning(
        "job went on or ended without an ACK that it waited for",
        extra={
            "verdict": verdict,
            "reason": reason,
            "org_id": event.org_id,
            "job_id": event.job_id,
            "destination_id": destination_id,
            "actor": header.actor,
        },
    )
