"""Delivers one message: reads what it says, signs it, sends it, and says what came of it."""

import logging
import time

import msgspec
import psycopg
import psycopg_pool

from schemas.private import private_bytes
from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.runtime.errors import BlobFault, BlobMissing
from services.runtime.metrics import count, timed
from services.writers.webhook.endpoints import Endpoint, Endpoints, Name
from services.writers.webhook.payload import body_of, message_id
from services.writers.webhook.sender import Outcome, Sender
from services.writers.webhook.signing import headers_of
from services.writers.webhook.throttles import Throttles
from services.writers.writer import Extractions, refused, written

KIND = "webhook"
log = logging.getLogger(__name__)


def endpoint_of(delivery: Delivery) -> Name:
    """Return the endpoint of a delivery: a notice's destination is `<webhook id>:<event type>`."""
    return delivery.org_id, delivery.destination_id.partition(":")[0]


class WebhookWriter:
    """Sends messages to the endpoints of all orgs."""

    def __init__(
        self, endpoints: Endpoints, extractions: Extractions, sender: Sender, throttles: Throttles, public_url: str
    ) -> None:
        self._endpoints = endpoints
        self._extractions = extractions
        self._sender = sender
        self._throttles = throttles
        self._public_url = public_url

    async def deliver(self, delivery: Delivery) -> DeliveryResult:
        """Send one message; whatever goes wrong is in the result."""
        result = await self._delivered(delivery)
        count("deliveries_written", destination_kind=KIND, outcome="failed" if result.error_type else "acked")
        return result

    async def _delivered(self, delivery: Delivery) -> DeliveryResult:
        try:
            endpoint = await self._endpoints.find(endpoint_of(delivery))
            if endpoint is None or not endpoint.enabled:
                return refused(delivery, "endpoint_closed", "the endpoint was deleted or disabled", closed=True)
            extraction = await self._extractions.get(delivery.extraction_ref) if delivery.extraction_ref else b""
            body = body_of(delivery, extraction, self._public_url)
            return await self._sent(delivery, endpoint, body)
        except BlobMissing as error:
            return refused(delivery, "extraction_missing", str(error))
        except (ValueError, OverflowError) as error:  # BadExtraction, no key of a blob, a time that no calendar has
            return refused(delivery, "extraction_unreadable", str(error))
        except (BlobFault, psycopg.Error, psycopg_pool.PoolTimeout) as error:
            log.warning("webhook not sent: a store is away", extra={"reason": type(error).__name__})
            return _failed(delivery, "store_unavailable", "the blob store or Postgres did not answer")

    async def _sent(self, delivery: Delivery, endpoint: Endpoint, body: bytes) -> DeliveryResult:
        headers = headers_of(message_id(delivery), int(time.time()), body, endpoint.secrets)
        outcome = await self._sender.send(endpoint.url, headers, body)
        timed("webhook_seconds", outcome.latency_ms / 1000, outcome=outcome.error_type or "acked")
        self._throttle(endpoint_of(delivery), outcome)
        if outcome.gone:
            await self._endpoints.disable(endpoint_of(delivery), endpoint.url, "it answered 410 Gone")
        return msgspec.structs.replace(result_of(delivery, outcome), endpoint_version=endpoint.version)

    def _throttle(self, name: Name, outcome: Outcome) -> None:
        if outcome.throttled:
            self._throttles.refused(name, outcome.pause_seconds)
            count("webhook_throttlings", status=str(outcome.status))
        elif not outcome.error_type:
            self._throttles.succeeded(name)


def result_of(delivery: Delivery, outcome: Outcome) -> DeliveryResult:
    """Say to the ledger what came of a call."""
    if not outcome.error_type:
        return written(delivery)
    if not outcome.retryable:
        return refused(delivery, outcome.error_type, outcome.message, closed=outcome.gone)
    return msgspec.structs.replace(
        _failed(delivery, outcome.error_type, outcome.message), retry_after_ms=outcome.retry_after_ms
    )


def _failed(delivery: Delivery, error_type: str, message: str) -> DeliveryResult:
    return msgspec.structs.replace(
        written(delivery, rows=0), error_type=error_type, private=private_bytes({"message": message})
    )
