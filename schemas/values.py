"""What fields of events hold beside plain values: enumerations, destinations, described numbers.

Every enumeration has `unknown`, which an old reader sees in place of what it does not know yet.
"""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta, Struct

MAX_GATE_SECONDS = 366 * 86_400
Micros = Annotated[int, Meta(description="microseconds since 1970-01-01 UTC")]


def doc(text: str) -> Meta:
    """Describe a field in Avro and in the documentation."""
    return Meta(description=text)


class Vocabulary(StrEnum):
    """Which of the published vocabularies a job speaks."""

    UNKNOWN = "unknown"
    WORKFLOW = "workflow"
    MODULE = "module"
    SPIDER = "spider"


class NodeOutcome(StrEnum):
    """How one visit of a workflow node ended."""

    UNKNOWN = "unknown"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REFUSED = "refused"


class FireKind(StrEnum):
    """What made a schedule fire: its clock, somebody who asked, or a due time that had been missed."""

    UNKNOWN = "unknown"
    CRON = "cron"
    TRIGGER = "trigger"
    MISSED = "missed"


class FireOutcome(StrEnum):
    """What became of a fire: jobs, a refusal, or nothing because the schedule says so."""

    UNKNOWN = "unknown"
    SUBMITTED = "submitted"
    REFUSED = "refused"
    SKIPPED = "skipped"


class ReleaseReason(StrEnum):
    """Why a job went back to its queue without being finished."""

    UNKNOWN = "unknown"
    LEASE_EXPIRED = "lease_expired"
    HANDED_BACK = "handed_back"


class OnExhausted(StrEnum):
    """What becomes of a job whose gating delivery is given up: held for a person, completed without it, or failed."""

    UNKNOWN = "unknown"
    HOLD = "hold"
    WAIVE = "waive"
    FAIL = "fail"


class After(StrEnum):
    """Which event a delivery waits for: the extraction itself, or for a notice the end of the job."""

    UNKNOWN = "unknown"
    EXTRACTION = "extraction"
    COMPLETED = "completed"
    FAILED = "failed"


class Destination(Struct, frozen=True, kw_only=True, gc=False):
    """A place to which a job's extraction, or the notice of its end, goes, as it was when the job was submitted."""

    destination_id: Annotated[str, doc("id within the org")] = ""
    kind: Annotated[str, doc("postgres, webhook, clickhouse, bigquery, snowflake or databricks")] = ""
    gating: Annotated[bool, doc("whether the job waits for its ACK before it is completed")] = True
    on_exhausted: Annotated[OnExhausted, doc("what becomes of the job when it is given up")] = OnExhausted.HOLD
    after: Annotated[After, doc("the event that it follows; what follows the end of a job never gates")] = (
        After.EXTRACTION
    )
    gate_seconds: Annotated[
        int,
        Meta(ge=0, le=MAX_GATE_SECONDS),
        doc("how long a job waits for its ACK; 0: as long as the ledger's setting says"),
    ] = 0
