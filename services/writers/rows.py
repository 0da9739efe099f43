"""From a delivery and its extraction to a row; what Postgres cannot hold is replaced and counted."""

import json
import uuid
from dataclasses import dataclass
from typing import Any

import msgspec

from schemas.storable import ESCAPED, counted, storable, storable_text
from services.ledger.tasks import Delivery

NAMESPACE = uuid.UUID("6f1c4f0e-2b0a-5d53-9a4e-0a6a9f7c1d3e")  # of row ids: the same job always has the same one


class Unreadable(ValueError):
    """The extraction in the blob store is not what the extractor writes."""


class _Document(msgspec.Struct, rename="camel"):
    """The part of an extraction that becomes a row."""

    normalized: msgspec.Raw = msgspec.Raw(b"{}")
    replaced_characters: int = 0


def row_id(delivery: Delivery) -> uuid.UUID:
    """Return the id of the row of a delivery's job."""
    return uuid.uuid5(NAMESPACE, f"{delivery.org_id}/{delivery.job_id}")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of extraction_results, as its statement takes it."""

    delivery: Delivery
    normalized: str  # JSON
    replaced_characters: int

    @property
    def key(self) -> tuple[str, str]:
        """The primary key."""
        return self.delivery.org_id, self.delivery.job_id

    def columns(self) -> dict[str, Any]:
        """Return the values by column."""
        delivery = self.delivery
        return {
            "id": row_id(delivery),
            "org_id": delivery.org_id,
            "job_id": delivery.job_id,
            "destination_id": delivery.destination_id,
            "generation": delivery.generation,
            "domain": storable_text(delivery.domain),
            "schema_id": storable_text(delivery.schema_id),
            "data_type": storable_text(delivery.data_type),
            "normalized": self.normalized,
            "replaced_characters": self.replaced_characters,
            "raw_blob_key": delivery.result_ref,
            "quality_completeness": delivery.quality_completeness,
            "quality_validation": delivery.quality_validation,
            "quality_composite": delivery.quality_composite,
            "latency_ms": delivery.latency_ms,
        }


def row_of(delivery: Delivery, extraction: bytes) -> Row:
    """Return the row of a delivery; `extraction` is its document, or empty where no extractor ran."""
    try:
        data, replaced = _without_escapes(extraction) if ESCAPED.search(extraction) else (extraction, 0)
        document = msgspec.json.decode(data or b"{}", type=_Document)
        return Row(delivery, bytes(document.normalized).decode(), document.replaced_characters + replaced)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unreadable(f"{delivery.extraction_ref} is no extraction: {error}") from error


def _without_escapes(extraction: bytes) -> tuple[bytes, int]:
    """Return a document as stores take it, and how much was replaced in what becomes the row."""
    document = json.loads(extraction)  # msgspec does not read halves of surrogate pairs
    document["normalized"], replaced = counted(document["normalized"])
    return msgspec.json.encode(storable(document)), replaced
