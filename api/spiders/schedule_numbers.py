"""The ids of schedules of projects: in the ledger a text, to callers the number in it. Pure."""

import re

_OURS = re.compile(r"spi-([1-9][0-9]{0,17})", re.ASCII)


def id_of(number: int) -> str:
    """Return what the ledger calls a schedule of a project."""
    return f"spi-{number}"


def number_of(schedule_id: str | None) -> int | None:
    """Return what callers call it; None: it is none of a project."""
    found = _OURS.fullmatch(schedule_id or "")
    return int(found[1]) if found else None
