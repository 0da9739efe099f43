"""What a webhook says. All of it follows from the delivery, so every repeat has the same id and the same bytes."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

import msgspec

from schemas.values import After
from services.ledger.tasks import Delivery
from services.runtime.item_manifest import is_manifest

INLINE_BYTES = 20 * 1024  # a larger message leaves the extraction out; its link is always there
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOTHING = msgspec.Raw(b"null")
EventType = Literal["job.extracted", "job.completed", "job.failed"]
TYPES: dict[After, EventType] = {After.COMPLETED: "job.completed", After.FAILED: "job.failed"}
STATUSES = {After.COMPLETED: "completed", After.FAILED: "failed"}


class BadExtraction(ValueError):
    """The extraction in the blob store is not what the extractor writes."""


class Where(NamedTuple):
    """Where callers reach the API."""

    url: str = ""  # empty: links begin at its root
    spider_prefix: str = "/spider"  # of the paths of spider jobs

    @property
    def root(self) -> str:
        """Return what every link begins with."""
        return self.url.rstrip("/")


class Links(msgspec.Struct, frozen=True):
    """Where to read more, with an API key."""

    job: str
    result: str | None
    extraction: str | None


class Quality(msgspec.Struct, frozen=True):
    """How good the extraction is, each from 0 to 1."""

    completeness: float
    validation: float
    composite: float


class Data(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What happened to which job. Times are RFC 3339, UTC."""

    job_id: str
    status: str
    domain: str
    submitted_at: str
    extracted_at: str | None
    ended_at: str | None
    error_type: str | None
    rule: str | None
    node: str | None
    destination: str | None
    schema_id: str | None
    data_type: str | None
    items: int
    quality: Quality | None
    links: Links
    extraction: msgspec.Raw  # null: there is none, or it is too large; then `links` has it


class Message(msgspec.Struct, frozen=True):
    """The body of a webhook."""

    type: str
    timestamp: str
    data: Data


def message_id(delivery: Delivery) -> str:
    """Return the webhook-id: one per endpoint and event, for every try of every generation.

    A job that is walked again is extracted, or ends, at another moment: that is another event.
    """
    place = (delivery.org_id, delivery.job_id, delivery.destination_id, str(_moment(delivery)))
    return "msg_" + hashlib.blake2b("\0".join(place).encode(), digest_size=16).hexdigest()


def body_of(delivery: Delivery, extraction: bytes, where: Where) -> bytes:
    """Return the bytes to send; `extraction` is the job's document, empty where no extractor ran."""
    whole = msgspec.json.encode(_message(delivery, _normalized(extraction), where))
    return whole if len(whole) <= INLINE_BYTES else msgspec.json.encode(_message(delivery, NOTHING, where))


class _Document(msgspec.Struct):
    normalized: msgspec.Raw = NOTHING


def _normalized(extraction: bytes) -> msgspec.Raw:
    try:
        extraction.decode()
        return msgspec.json.decode(extraction or b"{}", type=_Document).normalized
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadExtraction(f"not an extraction: {error}") from error


def _message(delivery: Delivery, extraction: msgspec.Raw, where: Where) -> Message:
    extracted, failed = bool(delivery.result_ref or delivery.extraction_ref), delivery.failed
    job = f"{where.root}/api/v1/jobs/{delivery.job_id}"
    data = Data(
        job_id=delivery.job_id,
        status=STATUSES.get(delivery.after, "extraction_done"),
        domain=delivery.domain,
        submitted_at=iso_of(delivery.submitted_at),
        extracted_at=iso_of(delivery.extracted_at) if extracted else None,
        ended_at=iso_of(delivery.ended_at) if delivery.after in STATUSES else None,
        error_type=failed.error_type if failed else None,
        rule=(failed.rule or None) if failed else None,
        node=(failed.node_id or None) if failed else None,
        destination=(failed.destination_id or None) if failed else None,
        schema_id=delivery.schema_id or None,
        data_type=delivery.data_type or None,
        items=delivery.items,
        quality=Quality(delivery.quality_completeness, delivery.quality_validation, delivery.quality_composite)
        if extracted
        else None,
        links=Links(job, f"{job}/result" if delivery.result_ref else None, _extraction_at(delivery, where)),
        extraction=extraction,
    )
    return Message(TYPES.get(delivery.after, "job.extracted"), iso_of(_moment(delivery)), data)


def _extraction_at(delivery: Delivery, where: Where) -> str | None:
    """Return where all of the extraction is, however large."""
    if is_manifest(delivery.extraction_ref):
        return f"{where.root}{where.spider_prefix}/jobs/{delivery.job_id}/items/download"
    if not delivery.result_ref:
        return None
    return f"{where.root}/api/v1/extraction/results/{delivery.job_id}"


def _moment(delivery: Delivery) -> int:
    """Return when it happened what the message tells of, in microseconds since 1970."""
    return delivery.ended_at if delivery.after in STATUSES else delivery.extracted_at


def iso_of(micros: int) -> str:
    """Write microseconds since 1970 as 2026-01-31T12:00:00.000000Z."""
    return (EPOCH + timedelta(microseconds=micros)).isoformat(timespec="microseconds").replace("+00:00", "Z")
