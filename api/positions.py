"""Positions of the log in requests: read one, and wait until the read model has reached the one that a read names."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from multidict import MultiDict

from api.auth import Caller
from api.errors import Problem, invalid
from api.lookup import Jobs

QUERY, HEADER = "min_position", "Min-Position"
_FORM = re.compile(r"(\d{1,9}):(\d{1,18})", re.ASCII)


class Position(NamedTuple):
    """A place in the log, written `partition:position`."""

    partition: int
    position: int

    def __str__(self) -> str:
        """Return it as headers and ids have it."""
        return f"{self.partition}:{self.position}"


def position_in(text: str) -> Position | None:
    """Return the position that a text names, or None where it names none."""
    found = _FORM.fullmatch(text)
    return Position(int(found[1]), int(found[2])) if found else None


def named(text: str, field: str) -> Position:
    """Return the position that a text names, or raise the Problem that names the field."""
    if found := position_in(text):
        return found
    raise Problem("invalid_position", "takes a position as it was answered: partition:position, 3:4711", field=field)


async def reached(
    jobs: Jobs, caller: Caller, headers: Mapping[str, str], query: MultiDict[str], timeout_seconds: float
) -> Position:
    """Wait for the position that a request names, taking it out of its query; return how far reads see for certain.

    The operator, who is of no org, may name any partition, and learns of none.
    """
    several = query.popall(QUERY, [])
    if len(several) > 1:
        raise invalid(QUERY, "comes several times: send it once")
    given = several[0] if several else None
    field = HEADER if given is None else QUERY
    text = headers.get(HEADER) if given is None else given
    if text is not None:
        await _awaited(jobs, caller, named(text, field), field, timeout_seconds)
    return Position(caller.partition, jobs.folded(caller.partition) if caller.org_id else 0)


async def _awaited(jobs: Jobs, caller: Caller, wanted: Position, field: str, timeout_seconds: float) -> None:
    if caller.org_id and wanted.partition != caller.partition:
        raise Problem(
            "invalid_position",
            f"the org's jobs are on partition {caller.partition}: no answer names another",
            field=field,
        )
    if await jobs.reached(wanted.partition, wanted.position, timeout_seconds):
        return
    seen = Position(wanted.partition, jobs.folded(wanted.partition))
    raise Problem(
        "position_not_reached",
        f"the read model is at {seen}, not yet at {wanted}: ask again",
        field=field,
    )
