"""What events say of people: the members of their field `private`."""

from collections.abc import Callable
from typing import Any

import msgspec

from schemas.private import SEALED, private_json
from schemas.recorded import Recorded
from schemas.sealed import DoesNotOpen, JobKey, unsealed

KeyOf = Callable[[JobKey], bytes | None]  # the key of a job, by org id and job id; None: there is none, or not any more


def private_of(recorded: Recorded, key_of: KeyOf | None = None) -> dict[str, Any]:
    """Return the members of an event's `private`.

    {} where there are none, where they are sealed and no key opens them (as of an erased job), and where their encoding
    is not known here.
    """
    event = recorded.event
    private = event.private
    if private[:1] == SEALED:
        job = (event.org_id, event.job_id)
        key = key_of(job) if key_of else None
        try:
            private = unsealed(private, key, job) if key else b""
        except DoesNotOpen:  # the event is a fact all the same
            return {}
    text = private_json(private)
    members = msgspec.json.decode(text) if text else {}
    return members if isinstance(members, dict) else {}
