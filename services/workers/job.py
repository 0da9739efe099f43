"""What a worker knows of a job: the readable part of its task, and the private bytes of its reports."""

from dataclasses import dataclass
from typing import TypeVar

import msgspec

from schemas.private import MESSAGE_CHARS, private_bytes, private_json
from schemas.storable import storable_text
from services.ledger.replies import Granted
from services.ledger.tasks import Resume, Task

Submission = TypeVar("Submission")


class Unreadable(ValueError):
    """The private bytes of a task are not in an encoding that this worker knows."""


class _Submitted(msgspec.Struct):
    url: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A job as one attempt runs it."""

    org_id: str
    job_id: str
    workflow_ref: str
    url: str
    attempt: int
    resume: Resume
    asks_first: bool = False  # its calls may cost more than the job


def job_of(task: Task, granted: Granted) -> Job:
    """Return the job of a granted task, or raise Unreadable."""
    return Job(
        task.org_id,
        task.job_id,
        task.workflow_ref,
        submitted(task.private, _Submitted, "a url").url,
        granted.attempt,
        granted.resume,
        granted.asks_first,
    )


def submitted(stored: bytes, kind: type[Submission], has: str) -> Submission:
    """Return what a caller submitted, out of a task's private bytes that have such a thing; or raise Unreadable."""
    text = private_json(stored)
    if text is None:
        raise Unreadable(f"private bytes begin with {stored[:1].hex() or 'nothing'}, known is 00: plain JSON")
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(f"private bytes are no JSON object with {has}: {error}") from error


def private(*, message: str = "", final_url: str = "") -> bytes:
    """Return what a report says that may identify people; empty for nothing."""
    said = {"message": message[:MESSAGE_CHARS], "finalUrl": final_url}
    said = {name: storable_text(text) for name, text in said.items() if text}
    return private_bytes(said)
