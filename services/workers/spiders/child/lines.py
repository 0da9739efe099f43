"""The log of a spider's process: every line that is loud enough goes through the pipe."""

import logging
import traceback
from datetime import UTC, datetime

import msgspec

from schemas.storable import storable_text
from services.workers.spiders.child.pipe import Pipe
from services.workers.spiders.frames import LINES, Line, Note

LINE_CHARS = 16 * 1024
_encode = msgspec.json.Encoder().encode


class PipeHandler(logging.Handler):
    """Sends lines; a critical one, and one about memory that is not there, are told apart too."""

    def __init__(self, pipe: Pipe, level: str) -> None:
        super().__init__(logging.NOTSET)
        self._pipe = pipe
        self._least = min(logging.getLevelName(level), logging.CRITICAL)

    def emit(self, record: logging.LogRecord) -> None:
        """Send a line."""
        if record.levelno < self._least:
            return
        message = _message(record)
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._pipe.add(LINES, _encode(Line(level_of(record.levelno), message, at, record.name)))
        if record.levelno >= logging.CRITICAL:
            self._pipe.note(Note(about="critical", reason=message[:1_000]))
        if record.exc_info and isinstance(record.exc_info[1], MemoryError):
            self._pipe.note(Note(about="memory"))


def level_of(number: int) -> str:
    """Return the name of the level that a number of `logging` falls under."""
    return ("debug", "info", "warning", "error", "critical")[min(max(number // 10 - 1, 0), 4)]


def _message(record: logging.LogRecord) -> str:
    try:
        message = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            message += "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip()
    except Exception as error:  # of a line whose text does not take its arguments, or of an argument's own code
        message = f"{record.msg!r} could not be written: {type(error).__name__}"
    return storable_text(message)[:LINE_CHARS]
