"""Logs as one JSON object a line on stderr, without secrets, with the ids of what is being worked on.

Whoever works on something says so once (`about`); every line below it carries the ids, also those of libraries.
"""

import json
import logging
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType

import orjson

from services.runtime.settings import Settings

OWN_FIELDS = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
# What each has in it, in lower case; the pattern; what stands in its place.
SECRETS = (
    ("jlk_", re.compile(r"jlk_[A-Za-z0-9]+_[A-Za-z0-9_\-]+"), "jlk_***"),
    ("sk_", re.compile(r"(?<![A-Za-z0-9])sk_[0-9a-f]{16}_[A-Za-z0-9_\-]+"), "sk_***"),
    ("://", re.compile(r"(://)[^/\s\"']*@"), r"\1***@"),  # the userinfo of a URL, also where its password holds an @
    ("password", re.compile(r"(?i)(password\s*=\s*)('[^']*'|[^\s\"',;&]+)"), r"\1***"),  # of libpq
    ("bearer", re.compile(r"(?i)(bearer\s+)[A-Za-z0-9._~+/\-]+=*"), r"\1***"),
)

log = logging.getLogger(__name__)
_ids: ContextVar[dict[str, object]] = ContextVar("ids")


@contextmanager
def about(**ids: object) -> Iterator[None]:
    """Put these ids on every line logged within, by this task or thread and those that it starts."""
    token = _ids.set({**_ids.get({}), **ids})
    try:
        yield
    finally:
        _ids.reset(token)


def note(**ids: object) -> None:
    """Add ids that have become known to the innermost `about`."""
    _ids.get({}).update(ids)


def without_secrets(text: str) -> str:
    """Return a text with every kind of secret that can be told by its form blanked.

    A pattern is looked for only where what it begins with is; beyond ASCII always, for there letters have more cases.
    """
    hints = text.lower() if text.isascii() else ""
    for hint, pattern, replacement in SECRETS:
        if not hints or hint in hints:
            text = pattern.sub(replacement, text)
    return text


def setup(settings: Settings, service: str) -> None:
    """Send every log record of this process to stderr as JSON: time, level, service, logger, message, extra ids."""
    keys = (settings.operator_key, settings.signing_key, settings.unblocker_key, *settings.credentials_key.split(","))
    setup_plain(settings.log_level, service, keys)


def setup_plain(log_level: str, service: str, secrets: tuple[str, ...] = ()) -> None:
    """Do the same without Settings, for a process that has none or could not read them."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(service, tuple(secret for secret in secrets if secret)))
    logging.basicConfig(handlers=[handler], level=log_level.upper(), force=True)
    logging.captureWarnings(capture=True)


def log_uncaught() -> None:
    """Log what nobody catches, in any thread, instead of printing it; for a process, not for a test."""
    sys.excepthook = _on_uncaught
    threading.excepthook = _on_uncaught_in_thread


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON. `secrets` are blanked wherever they turn up, like all known kinds."""

    def __init__(self, service: str, secrets: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._service = service
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its line break."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "service": self._service,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= _ids.get({})
        line |= {name: value for name, value in record.__dict__.items() if name not in OWN_FIELDS}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return self._without_secrets(_json(line))

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return without_secrets(text)


def _json(line: dict[str, object]) -> str:
    try:
        return orjson.dumps(line, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # half a surrogate pair, an integer of over 64 bits: no line is lost for what is odd in it
        return json.dumps(line, default=str, skipkeys=True)


def _on_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
    else:
        log.critical("process failed", exc_info=(kind, error, trace))


def _on_uncaught_in_thread(failed: threading.ExceptHookArgs) -> None:
    error = failed.exc_value or failed.exc_type()
    name = failed.thread.name if failed.thread else ""
    log.critical("thread failed", extra={"thread_name": name}, exc_info=(failed.exc_type, error, failed.exc_traceback))
