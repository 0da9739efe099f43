"""When a delivery is tried again: a schedule for each kind of destination, spread so that no crowd comes back at once.

An event says when the next try is, so a schedule that is changed holds for failures to come and never for past ones.
"""

from zlib import crc32

from services.ledger.delivery import DeliveryStatus
from services.ledger.policy import SECOND, Policy

WEBHOOK = "webhook"
MOST_TRIES = 50
LONGEST_WAIT_SECONDS = 7 * 86_400
_PARTS = 1 << 16


def schedule_of(text: str) -> tuple[int, ...]:
    """Read "0,5,300" (seconds before each try) as the waits behind each failure; ValueError says why not."""
    try:
        seconds = [float(each) for each in text.split(",")]
    except ValueError:
        raise ValueError("seconds before each try, such as 0,5,300") from None
    if seconds[0] != 0 or len(seconds) > MOST_TRIES:
        raise ValueError(f"at most {MOST_TRIES} tries, of which the first goes out at once: begin with 0")
    if not all(0 < each <= LONGEST_WAIT_SECONDS for each in seconds[1:]):
        raise ValueError(f"above 0 and at most {LONGEST_WAIT_SECONDS} seconds before each try behind the first")
    return tuple(int(each * SECOND) for each in seconds[1:])


def waits_of(policy: Policy, kind: str) -> tuple[int, ...]:
    """Return how long is waited after each failure but the last, for a kind of destination."""
    return policy.webhook_schedule if kind == WEBHOOK else policy.delivery_schedule


def resend_after(policy: Policy, job_id: str, delivery: DeliveryStatus) -> int:
    """How long a writer has to answer the try that it has."""
    return spread(policy, policy.resend_after(delivery.try_number), job_id, delivery)


def spread(policy: Policy, wait: int, job_id: str, delivery: DeliveryStatus) -> int:
    """Return a wait with some part of it added, by job, destination and try: asked twice, the same."""
    name = f"{job_id} {delivery.destination.destination_id} {delivery.generation} {delivery.try_number}"
    part = crc32(name.encode()) % _PARTS
    return wait + wait * policy.spread_percent * part // (100 * _PARTS)
