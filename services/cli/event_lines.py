"""Events of the ledger as lines for people. Private bytes are left out unless asked for."""

from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from schemas.plain import fields, plain, readable
from schemas.recorded import Recorded

NOT_SHOWN = frozenset({"org_id", "job_id", "attempt", "private"})  # shown elsewhere in the line, or not at all


def event_line(recorded: Recorded, *, private: bool = False) -> str:
    """Write an event as one line: when, where in the log, what, about whom, then the fields that say something."""
    header, event = recorded.header, recorded.event
    moment = datetime.fromtimestamp(header.occurred_at / 1_000_000, UTC).strftime("%H:%M:%S.%f")
    place = f"{header.partition}:{header.position}"
    subject = " ".join(part for part in (event.org_id, event.job_id) if part) or "-"
    said = [f"{name}={_short(value)}" for name, value in fields(recorded) if name not in NOT_SHOWN and value]
    if private and event.private:
        said.append(f"private={_short(readable(event.private))}")
    return " ".join((moment, f"{place:>9}", f"{header.event_type:<18}", subject, *said))


def in_order(events: Iterable[Recorded]) -> list[Recorded]:
    """Return events of several partitions in the order of their times; those of a partition keep theirs."""
    return sorted(events, key=lambda recorded: (recorded.header.occurred_at, recorded.header.partition))


def _short(value: object) -> str:
    shown = plain(value)
    return shown if isinstance(shown, str) else msgspec.json.encode(shown).decode()
