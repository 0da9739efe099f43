"""What readers of the read model get, and the cursor they page with."""

import base64
import binascii
import struct
from datetime import datetime
from uuid import UUID

from msgspec import Struct

from projections.postgres.rows import EPOCH, NEVER, Delivery, Job, Transition, Visit, instant, micros

CURSOR_HEAD = struct.Struct(">q")
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


class JobStatus(Struct, frozen=True):
    """The little that polling needs."""

    job_id: str
    status: str
    submitted_at: datetime
    finished_at: datetime | None
    error_type: str | None


class Cursor(Struct, frozen=True):
    """The last job of a page; the next page holds what was submitted before it."""

    submitted_at: datetime
    job_id: str

    def encode(self) -> str:
        """Return a text that may stand in a URL."""
        data = CURSOR_HEAD.pack(micros(self.submitted_at)) + self.job_id.encode()
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    @classmethod
    def decode(cls, text: str) -> "Cursor":
        """Return the cursor of a text, or raise ValueError."""
        try:
            data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            (at,) = CURSOR_HEAD.unpack_from(data)
            job_id = data[CURSOR_HEAD.size :].decode()
        except (binascii.Error, struct.error, UnicodeError, ValueError) as error:
            raise ValueError("not a cursor of this list") from error
        submitted_at = instant(at)
        if len(job_id) > MAX_JOB_ID_BYTES or "\0" in job_id or not EPOCH <= submitted_at < NEVER:
            raise ValueError("not a cursor of this list")
        return cls(submitted_at, job_id)


FIRST_PAGE = Cursor(NEVER, "")


class Page(Struct, frozen=True):
    """Some jobs, newest first, and where to go on; `next` is None behind the oldest."""

    jobs: list[Job]
    next: Cursor | None
