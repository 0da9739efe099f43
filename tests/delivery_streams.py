"""What may happen to the deliveries of a job in a stream of events: tries, ACKs, waivers, redeliveries, verdicts."""

from typing import TYPE_CHECKING

from schemas.events import (
    DeliveryAcked,
    DeliveryDeadLettered,
    DeliveryFailed,
    DeliveryRequested,
    DeliveryWaived,
    JobFailed,
)
from schemas.recorded import Recorded

if TYPE_CHECKING:
    from tests.event_streams import Play, Stream

NEXT_TRY_AT = 1_750_000_000_000_006


def settle(stream: "Stream", job: "Play", what: int) -> None:
    """Let something legal happen to a delivery of a job in extraction_done; the number chooses."""
    place = sorted(job.open_deliveries)[what % len(job.open_deliveries)]
    generation = job.generations[place]
    match what:
        case 2 | 3:
            fail(stream, job, place)
        case 4:
            stream.of(job, dead(job, place))
        case 5:
            waive(stream, job, place)
        case 6 if generation < 3:
            job.generations[place], job.open_deliveries[place] = generation + 1, 1
            stream.of(job, requested(job, place))
        case 7 if place not in job.openers and _gates(job, place):
            job.status = "failed"
            private = b'\0{"message":"gave up"}'
            stream.of(job, JobFailed(error_type="delivery_failed", destination_id=place, private=private))
        case 15:
            stream.end_early(job, 1)
        case _:
            acknowledge(stream, job, place)


def fail(stream: "Stream", job: "Play", place: str) -> None:
    """Let a try fail and be made again."""
    number = job.open_deliveries[place]
    failed = DeliveryFailed(
        destination_id=place,
        generation=job.generations[place],
        try_number=number,
        error_type="timeout",
        next_try_at=NEXT_TRY_AT,
        private=b'\0{"message":"no answer"}',
    )
    stream.of(job, failed)
    job.open_deliveries[place] = number + 1
    stream.of(job, requested(job, place))


def acknowledge(stream: "Stream", job: "Play", place: str) -> None:
    """Acknowledge a delivery and complete the job if that opens its gate."""
    job.open_deliveries.pop(place, None)
    acked = DeliveryAcked(destination_id=place, generation=job.generations[place], rows=1, writer_id="pg-1")
    _open(stream, job, place, stream.of(job, acked))


def waive(stream: "Stream", job: "Play", place: str) -> None:
    """Waive a delivery and complete the job if that opens its gate; its ACK may still come."""
    waived = DeliveryWaived(destination_id=place, generation=job.generations[place], reason="requested")
    _open(stream, job, place, stream.of(job, waived))


def requested(job: "Play", place: str) -> DeliveryRequested:
    """Return the request of the coming try."""
    kind = next(each.kind for each in job.destinations if each.destination_id == place)
    return DeliveryRequested(
        destination_id=place,
        kind=kind,
        generation=job.generations[place],
        try_number=job.open_deliveries[place],
        gating=_gates(job, place),
    )


def dead(job: "Play", place: str) -> DeliveryDeadLettered:
    """Return the end of all tries."""
    return DeliveryDeadLettered(
        destination_id=place, generation=job.generations[place], tries=9, error_type="timeout", closed=True
    )


def _gates(job: "Play", place: str) -> bool:
    return any(each.gating for each in job.destinations if each.destination_id == place)


def _open(stream: "Stream", job: "Play", place: str, opener: Recorded) -> None:
    job.openers.setdefault(place, opener.header.event_id)
    stream.complete_if_open(job)
