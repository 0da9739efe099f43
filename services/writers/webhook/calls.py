"""Calls an endpoint for a delivery: signs, sends, slows down where it asks for that, and notes what came of it."""

from datetime import datetime, timedelta

from services.ledger.tasks import Delivery
from services.runtime.metrics import count, timed
from services.runtime.time import utc_now
from services.writers.webhook.attempts import Attempt, AttemptLog, storable
from services.writers.webhook.endpoints import Endpoint, Name
from services.writers.webhook.payload import message_id
from services.writers.webhook.sender import Outcome, Sender
from services.writers.webhook.signing import PREFIX, SIGNATURE, headers_of
from services.writers.webhook.throttles import Throttles


def endpoint_of(delivery: Delivery) -> Name:
    """Return the endpoint of a delivery: a notice's destination is `<webhook id>:<event type>`."""
    return delivery.org_id, delivery.destination_id.partition(":")[0]


class Calls:
    """Makes the calls of one writer; `attempts` None: nobody keeps what came of them."""

    def __init__(self, sender: Sender, throttles: Throttles, attempts: AttemptLog | None = None) -> None:
        self._sender = sender
        self._throttles = throttles
        self._attempts = attempts

    async def call(self, delivery: Delivery, endpoint: Endpoint, body: bytes) -> Outcome:
        """Send a message once; whatever goes wrong is in the outcome."""
        at = utc_now()
        headers = headers_of(message_id(delivery), int(at.timestamp()), body, endpoint.secrets)
        outcome = await self._sender.send(endpoint.url, headers, body)
        timed("webhook_seconds", outcome.latency_ms / 1000, outcome=outcome.error_type or "acked")
        self._throttle(endpoint_of(delivery), outcome)
        if self._attempts:
            secrets = [*endpoint.secrets, *(each.removeprefix(PREFIX) for each in endpoint.secrets)]
            hidden = [*secrets, *headers[SIGNATURE].split(" ")]
            self._attempts.note(
                _attempt(delivery, headers["webhook-id"], at, outcome, storable(outcome.answer, hidden))
            )
        return outcome

    def _throttle(self, name: Name, outcome: Outcome) -> None:
        if outcome.throttled:
            pause = self._throttles.refused(name, outcome.pause_seconds)
            count("webhook_throttlings", status=str(outcome.status))
            if self._attempts:
                self._attempts.throttled(name, utc_now() + timedelta(seconds=pause))
        elif not outcome.error_type:
            self._throttles.succeeded(name)


def _attempt(delivery: Delivery, message: str, at: datetime, outcome: Outcome, answer: str) -> Attempt:
    return Attempt(
        org_id=delivery.org_id,
        webhook_id=endpoint_of(delivery)[1],
        job_id=delivery.job_id,
        destination_id=delivery.destination_id,
        message_id=message,
        generation=delivery.generation,
        try_number=delivery.try_number,
        attempted_at=at,
        latency_ms=outcome.latency_ms,
        status=outcome.status,
        error_type=outcome.error_type,
        answer=answer,
    )
