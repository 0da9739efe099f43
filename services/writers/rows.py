"""From a delivery and its extraction to a row; what Postgres cannot hold is replaced and counted."""

import uuid
from dataclasses import dataclass
from typing import Any

import msgspec

from services.ledger.messages import Delivery

NAMESPACE = uuid.UUID("6f1c4f0e-2b0a-5d53-9a4e-0a6a9f7c1d3e")  # of row ids: the same job always has the same one
NUL, REPLACEMENT = "\0", "\ufffd"
ESCAPED_NUL = b"\\u0000"


class Unreadable(ValueError):
    """The extraction in the blob store is not what the extractor writes."""


class _Document(msgspec.Struct, rename="camel"):
    """The part of an extraction that becomes a row."""

    normalized: msgspec.Raw = msgspec.Raw(b"{}")
    replaced_characters: int = 0


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
            "id": uuid.uuid5(NAMESPACE, f"{delivery.org_id}/{delivery.job_id}"),
            "org_id": delivery.org_id,
            "job_id": delivery.job_id,
            "destination_id": delivery.destination_id,
            "generation": delivery.generation,
            "domain": delivery.domain.replace(NUL, REPLACEMENT),
            "schema_id": delivery.schema_id.replace(NUL, REPLACEMENT),
            "data_type": delivery.data_type.replace(NUL, REPLACEMENT),
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
        document = msgspec.json.decode(extraction or b"{}", type=_Document)
        data, replaced = bytes(document.normalized), document.replaced_characters
        if ESCAPED_NUL in data:
            counted = _Counted()
            data = msgspec.json.encode(counted.without_nul(msgspec.json.decode(data)))
            replaced += counted.replaced
        return Row(delivery, data.decode(), replaced)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(f"{delivery.extraction_ref} is no extraction: {error}") from error


class _Counted:
    """Replaces NULs in a JSON value and counts them."""

    def __init__(self) -> None:
        self.replaced = 0

    def without_nul(self, value: Any) -> Any:
        """Return the value without NULs in its strings and names."""
        match value:
            case str():
                self.replaced += value.count(NUL)
                return value.replace(NUL, REPLACEMENT)
            case list():
                return [self.without_nul(each) for each in value]
            case dict():
                return {self.without_nul(name): self.without_nul(each) for name, each in value.items()}
            case _:
                return value
