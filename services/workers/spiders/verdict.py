"""How a run has ended. An exit code of 0 is not enough: what a spider said on its way decides."""

import signal
from dataclasses import dataclass, field

from schemas.storable import storable_text
from services.workers.spiders.frames import Note
from services.workers.spiders.protocol import Ended

# What a crawl that has nothing left to do says, and caps that whoever runs it asked for.
CLEAN = frozenset(("finished", "closespider_itemcount", "closespider_pagecount", "closespider_timeout"))


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run has failed."""

    error_type: str
    message: str = field(repr=False)
    close_reason: str = ""


@dataclass(slots=True)
class Seen:
    """What was heard of a run so far."""

    opened: set[str] = field(default_factory=set)
    closed: dict[str, str] = field(default_factory=dict)  # spider -> reason
    broken: dict[str, str] = field(default_factory=dict)  # spider -> error; "" is the run itself
    criticals: list[str] = field(default_factory=list)
    succeeded: int = 0  # responses
    scraped: int = 0
    timed_out: bool = False  # its worker stopped it for that

    def note(self, note: Note) -> None:
        """Take a note."""
        match note.about:
            case "opened":
                self.opened.add(note.spider)
            case "closed":
                self.closed[note.spider] = storable_text(note.reason)
            case "broken":
                self.broken.setdefault(note.spider, storable_text(note.reason))
            case "critical":
                if not self.criticals:
                    self.criticals.append(storable_text(note.reason))


def failure(seen: Seen, spiders: list[str], ended: Ended, memory_mb: int) -> Failure | None:
    """Return why a run has failed, or None where it has finished."""
    reasons = ", ".join(sorted(set(seen.closed.values())))
    if ended.killed == "memory":
        return Failure("memory_limit", f"the run used more than its {memory_mb} MB of memory: killed", reasons)
    if ended.killed == "stopped" and seen.timed_out:
        return Failure("timed_out", "the run was stopped at its time limit: give it a longer timeout_seconds", reasons)
    if ended.killed == "stopped":
        return Failure("runner_stopped", "the worker stopped the run before its end", reasons)
    if ended.killed == "tampered":
        return Failure("closed_unexpectedly", "the process said what no run says: killed", reasons)
    for name in spiders:
        if name not in seen.opened:
            why = seen.broken.get(name) or seen.broken.get("") or _gone(ended)
            return Failure("spider_never_started", f"spider {name!r} never started: {why}", reasons)
    if seen.criticals:
        return Failure("critical_log", f"a critical line was logged: {seen.criticals[0]}", reasons)
    for name in spiders:
        if name not in seen.closed:
            why = seen.broken.get(name) or seen.broken.get("") or _gone(ended)
            return Failure("closed_unexpectedly", f"spider {name!r} did not close: {why}", reasons)
        if seen.closed[name] not in CLEAN:
            return Failure("closed_unexpectedly", f"spider {name!r} closed as {seen.closed[name]!r}", reasons)
    if ended.exit_code:
        return Failure("closed_unexpectedly", _gone(ended), reasons)
    if not seen.succeeded:
        return Failure("no_successful_request", "no request of the run was answered with a status below 400", reasons)
    return None


def _gone(ended: Ended) -> str:
    how = _killed_by(-ended.exit_code) if ended.exit_code < 0 else f"exit code {ended.exit_code}"
    printed = storable_text(ended.printed.strip())[-1_000:]
    return f"the process has ended, {how}" + (f": {printed}" if printed else "")


def _killed_by(number: int) -> str:
    said = f"killed by signal {number}"
    if number == signal.SIGKILL:
        return f"{said}: by the machine where that has no memory left, or by hand"
    return f"{said}, {name}" if (name := signal.strsignal(number)) else said
