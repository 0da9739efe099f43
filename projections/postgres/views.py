"""What readers of the read model get, and the cursor they page with."""

import base64
import binascii
import struct
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct

from projections.postgres.rows import EPOCH, NEVER, Delivery, Job, Transition, Visit, instant, micros

CURSOR_HEAD = struct.Struct(">Bq")  # direction, microseconds since 1970
NEWEST_FIRST, OLDEST_FIRST = 1, 2
MAX_JOB_ID_BYTES = 200


class Gate(Struct, frozen=True):
    """What a job waits for before it is completed, as its deliveries say."""

    expected: int
    acked: int
    pending: list[str]  # destination ids
    opened_by: list[UUID]
    opened_at: datetime | None
    waived: list[str]  # destination ids


class JobDetail(Struct, frozen=True):
    """A job and everything about it, of one instant."""

    job: Job
    transitions: list[Transition]
    trace: list[Visit]
    deliveries: list[Delivery]
    gate: Gate


class Progress(Struct, frozen=True):
    """What events of a job left, of one instant, and the position up to which its partition had been folded then."""

    position: int
    job: Job | None  # as of its last event; None: there is no such job then
    transitions: list[Transition]
    trace: list[Visit]


class JobStatus(Struct, frozen=True):
    """The little that polling needs."""

    job_id: str
    status: str
    submitted_at: datetime
    finished_at: datetime | None
    error_type: str | None


class JobLine(Struct, frozen=True):
    """The little that a line of a list shows."""

    job_id: str
    status: str
    vocabulary: str
    workflow_id: str
    workflow_version: int
    domain: str
    url: str | None
    priority: int
    schedule_id: str | None
    error_type: str | None
    submitted_at: datetime
    finished_at: datetime | None
    expired_at: datetime | None


class Extraction(Struct, frozen=True):
    """A row of extraction.extraction_results, a table that its writer owns."""

    id: UUID
    org_id: str
    job_id: str
    domain: str
    schema_id: str
    data_type: str
    normalized: Any
    raw_blob_key: str
    quality_completeness: float
    quality_validation: float
    quality_composite: float
    latency_ms: int
    delivered_at: datetime
    created_at: datetime


class Extractions(Struct, frozen=True):
    """Some extractions, newest first, and how many jobs like these still wait for theirs, all of one instant."""

    rows: list[Extraction]
    more: bool  # there are others behind these
    pending: int
    past_retention: bool  # there is none, and there were some


class Filters(Struct, frozen=True):
    """Which jobs of an org a list holds: those that meet all of these; None, or no status, asks nothing."""

    statuses: tuple[str, ...] = ()
    workflow_id: str | None = None
    domain: str | None = None
    schedule_id: str | None = None
    error_type: str | None = None
    submitted_after: datetime | None = None  # at that instant or later
    submitted_before: datetime | None = None  # earlier than that instant


class Replayable(Struct, frozen=True, kw_only=True):
    """Which deliveries are to be made once more: the newest of a job and destination, behind a place in their order."""

    destination_ids: list[str]
    statuses: list[str]
    job_id: str | None  # None: of any job
    since: datetime  # requested at that instant or later
    until: datetime  # earlier than that instant
    after_job: str
    after_destination: str


class Cursor(Struct, frozen=True):
    """The last job of a page; the next page holds what lies behind it in the direction of the list."""

    submitted_at: datetime
    job_id: str
    oldest_first: bool = False

    def encode(self) -> str:
        """Return a text that may stand in a URL."""
        direction = OLDEST_FIRST if self.oldest_first else NEWEST_FIRST
        data = CURSOR_HEAD.pack(direction, micros(self.submitted_at)) + self.job_id.encode()
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    @classmethod
    def decode(cls, text: str) -> "Cursor":
        """Return the cursor of a text, or raise ValueError."""
        try:
            data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            direction, at = CURSOR_HEAD.unpack_from(data)
            job_id = data[CURSOR_HEAD.size :].decode()
        except (binascii.Error, struct.error, UnicodeError, ValueError) as error:
            raise ValueError("not a cursor of this list") from error
        submitted_at = instant(at)
        known = direction in (NEWEST_FIRST, OLDEST_FIRST)
        if not known or len(job_id) > MAX_JOB_ID_BYTES or "\0" in job_id or not EPOCH <= submitted_at < NEVER:
            raise ValueError("not a cursor of this list")
        return cls(submitted_at, job_id, direction == OLDEST_FIRST)


BEGINNING = Cursor(EPOCH, "", oldest_first=True)
END = Cursor(NEVER, "")


class Page(Struct, frozen=True):
    """Some jobs in the order asked, and where to go on; `next` is None behind the last."""

    jobs: list[JobLine]
    next: Cursor | None
