"""Delivers one message: reads what it says, signs it, sends it, and says what came of it.

Whether an endpoint is disabled is for the ledger to say, whose event tells its owner. Until the configuration knows of
it, a writer calls no endpoint again that answered 410: it says `gone` of everything else that is for it.
"""

import logging

import msgspec
import psycopg
import psycopg_pool

from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.runtime.errors import BlobFault, BlobMissing, Unsealable
from services.runtime.tracing import clock
from services.writers.counting import counted_one
from services.writers.webhook.calls import Calls, endpoint_of
from services.writers.webhook.endpoints import Endpoint, Endpoints, Name
from services.writers.webhook.payload import Where, body_of
from services.writers.webhook.sender import Outcome
from services.writers.writer import Extractions, failed, refused, written

KIND = "webhook"
log = logging.getLogger(__name__)


class WebhookWriter:
    """Sends messages to the endpoints of all orgs."""

    def __init__(self, endpoints: Endpoints, extractions: Extractions, calls: Calls, where: Where) -> None:
        self._endpoints = endpoints
        self._extractions = extractions
        self._calls = calls
        self._where = where
        self._gone: dict[Name, int] = {}  # endpoints that answered 410, in this version

    async def deliver(self, delivery: Delivery) -> DeliveryResult:
        """Send one message; whatever goes wrong is in the result."""
        began = clock()
        result = await self._delivered(delivery)
        counted_one(result, KIND, began)
        return result

    async def _delivered(self, delivery: Delivery) -> DeliveryResult:
        try:
            endpoint = await self._endpoints.find(endpoint_of(delivery))
            if endpoint is None or not endpoint.enabled:
                self._gone.pop(endpoint_of(delivery), None)
                return refused(delivery, "endpoint_closed", "the endpoint was deleted or disabled", closed=True)
            if self._gone.get(endpoint_of(delivery)) == endpoint.version:
                return _of_version(refused(delivery, "gone", "the endpoint answered 410", closed=True), endpoint)
            extraction = await self._extractions.get(delivery.extraction_ref) if delivery.extraction_ref else b""
            body = body_of(delivery, extraction, self._where)
            return await self._sent(delivery, endpoint, body)
        except Unsealable as error:
            log.error("webhook not sent: its secret cannot be opened", extra={"reason": str(error)})
            return failed(delivery, "store_unavailable", "the secret of the endpoint cannot be opened now")
        except BlobMissing as error:
            return refused(delivery, "extraction_missing", str(error))
        except (ValueError, OverflowError) as error:  # BadExtraction, no key of a blob, a time that no calendar has
            return refused(delivery, "extraction_unreadable", str(error))
        except (BlobFault, psycopg.Error, psycopg_pool.PoolTimeout) as error:
            log.warning("webhook not sent: a store is away", extra={"reason": type(error).__name__})
            return failed(delivery, "store_unavailable", "the blob store or Postgres did not answer")

    async def _sent(self, delivery: Delivery, endpoint: Endpoint, body: bytes) -> DeliveryResult:
        outcome = await self._calls.call(delivery, endpoint, body)
        if outcome.gone:
            self._gone[endpoint_of(delivery)] = endpoint.version
        return _of_version(result_of(delivery, outcome), endpoint)


def _of_version(result: DeliveryResult, endpoint: Endpoint) -> DeliveryResult:
    return msgspec.structs.replace(result, endpoint_version=endpoint.version)


def result_of(delivery: Delivery, outcome: Outcome) -> DeliveryResult:
    """Say to the ledger what came of a call."""
    if not outcome.error_type:
        return written(delivery)
    if not outcome.retryable:
        return refused(delivery, outcome.error_type, outcome.message, closed=outcome.gone)
    return msgspec.structs.replace(
        failed(delivery, outcome.error_type, outcome.message), retry_after_ms=outcome.retry_after_ms
    )
