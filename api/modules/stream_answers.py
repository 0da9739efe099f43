"""What a stream of a module job sends: Server-Sent Events, their shapes and their bytes."""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from api.modules.answers import ModuleAnswer, QueryStats
from api.positions import Position
from api.stream_answers import EndReason, sse
from api.times import Timestamp
from projections.postgres.item_reading import Said

LEVELS = ("debug", "info", "warn", "error")
Level = Literal["debug", "info", "warn", "error"]
Code = Literal["deleted", "unauthenticated", "fault", "unknown_position"]
MESSAGES: dict[Code, str] = {
    "deleted": "the job was deleted: do not come back",
    "unauthenticated": "the key is not good any more: come back with another",
    "fault": "a fault of ours: come back, nothing gets lost",
    "unknown_position": "the log has no such position of this job: everything follows from its beginning",
}


class StreamedStatus(ModuleAnswer, frozen=True, kw_only=True):
    """How far the job has come: every 2 s until it has ended, and once at its end."""

    id: str
    status: str
    processed_points: int
    grid_points_count: int
    results_count: int
    error_count: int
    download_available: bool
    query_stats: dict[str, QueryStats]


class Line(ModuleAnswer, frozen=True, kw_only=True):
    """A line that the job said."""

    message: str
    level: Level
    timestamp: Timestamp


class StreamedLog(ModuleAnswer, frozen=True, kw_only=True):
    """Lines that the job said at about the same time: all of them in one text, with the gravest of their levels."""

    message: str
    level: Level
    timestamp: Timestamp  # of the first
    lines: list[Line]


class StreamedEnd(ModuleAnswer, frozen=True, kw_only=True):
    """How the job ended; nothing follows."""

    id: str
    status: str
    results_count: int
    duration_seconds: float  # from its first claim on; 0: it never was claimed


class StreamedError(ModuleAnswer, frozen=True, kw_only=True):
    """Something about the stream itself; the job goes on."""

    code: Code
    message: str


class StatusMessage(Struct, frozen=True, kw_only=True):
    """`status`: how far the job has come."""

    event: Literal["status"]
    id: str
    data: StreamedStatus


class LogMessage(Struct, frozen=True, kw_only=True):
    """`log`: what the job said; `id` is where in the log."""

    event: Literal["log"]
    id: str
    data: StreamedLog


class EndMessage(Struct, frozen=True, kw_only=True):
    """`done`: how the job ended; `id` is the position behind its end."""

    event: Literal["done"]
    id: str
    data: StreamedEnd


class ErrorMessage(Struct, frozen=True, kw_only=True):
    """`error`: something about the stream itself."""

    event: Literal["error"]
    data: StreamedError


ModuleMessage = StatusMessage | LogMessage | EndMessage | ErrorMessage


def error(code: Code) -> bytes:
    """Return the bytes of an error."""
    return sse("error", StreamedError(code=code, message=MESSAGES[code]))


def closing(reason: EndReason) -> bytes:
    """Return what is said before a stream ends without `done`; where another instance serves, nothing."""
    return b"" if reason == "shutdown" else error(reason)


def logged(said: Said, partition: int) -> bytes:
    """Return the bytes of lines; none where nobody can read them any more."""
    lines = [_line(each) for each in said.lines or ()]
    if not lines:
        return b""
    told = StreamedLog(
        message="\n".join(line.message for line in lines),
        level=max((line.level for line in lines), key=LEVELS.index),
        timestamp=lines[0].timestamp,
        lines=lines,
    )
    return sse("log", told, Position(partition, said.position))


def all_logged(rows: Sequence[Said], partition: int) -> bytes:
    """Return the bytes of lines of several positions."""
    return b"".join(logged(row, partition) for row in rows)


def _line(each: dict[str, Any]) -> Line:
    return Line(message=each["message"], level=each["level"], timestamp=each["timestamp"])
