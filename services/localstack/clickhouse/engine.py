"""The embedded engine and its sessions. Every call blocks: run it in a thread."""

import fcntl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chdb

from services.localstack.clickhouse.faults import SESSION_IS_LOCKED, SESSION_NOT_FOUND, EngineFault
from services.localstack.clickhouse.statement import Insert, Query

DEFAULT_DATABASE = "default"
SESSION_SECONDS = 60.0  # how long an idle session lives, unless it asks for another time
NAMES_ROW = "WithNames"


def _nothing() -> None:
    return


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a statement; `format` is empty where a statement has none."""

    format: str
    pieces: Iterator[bytes]
    summary: dict[str, int] = field(default_factory=dict)
    close: Callable[[], object] = _nothing  # the client may leave before the end of the result


class Session:
    """One handle on the engine: USE, SET and temporary tables live on it, as in a session of a ClickHouse server."""

    def __init__(self, path: Path) -> None:
        self._handle = chdb.connect(str(path))
        self._lock = threading.Lock()
        self._database = DEFAULT_DATABASE
        self._settings: dict[str, str] = {}
        self.expires = 0.0

    def take(self) -> None:
        """Begin a statement; one session runs one at a time."""
        if not self._lock.acquire(blocking=False):
            raise EngineFault(SESSION_IS_LOCKED, "Session is locked by a concurrent client")

    def give_back(self, seconds: float) -> None:
        """End a statement; the session lives on for so long."""
        self.expires = time.monotonic() + seconds
        self._lock.release()

    @property
    def busy(self) -> bool:
        """Whether a statement runs."""
        return self._lock.locked()

    def prepare(self, database: str, settings: Mapping[str, str]) -> None:
        """Choose the database and the settings of the next statement, and no other ones."""
        if database != self._database:
            self._handle.query(f"USE {_identifier(database)}")
            self._database = database
        for name in self._settings.keys() - settings.keys():
            self._handle.query(f"SET {_identifier(name)} = DEFAULT")
            del self._settings[name]
        for name, value in settings.items():
            if self._settings.get(name) != value:
                self._handle.query(f"SET {_identifier(name)} = {_text(value)}")
                self._settings[name] = value

    def insert(self, statement: Insert) -> Answer:
        """Let the engine parse rows and store them."""
        with self._handle.send_insert(statement.head, statement.format) as rows:
            if statement.rows:
                rows.append(statement.rows)
            result = rows.finish()
        return Answer("", iter(()), {"written_rows": result.rows_written, "written_bytes": result.bytes_written})

    def query(self, statement: Query, parameters: Mapping[str, str]) -> Answer:
        """Run anything else."""
        if statement.streams:
            pieces = self._handle.send_query(statement.text, statement.format, params=dict(parameters))
            return Answer(statement.format, (piece.bytes() for piece in pieces), close=pieces.close)
        # With names a result without rows has a line and differs from a statement that has no result at all.
        tabular = statement.format == "TabSeparated" and not statement.names_format
        asked = statement.format + NAMES_ROW if tabular else statement.format
        result = self._handle.query(statement.text, asked, params=dict(parameters))
        found: bytes = result.bytes() or b""
        summary = {"read_rows": result.rows_read(), "read_bytes": result.bytes_read()}
        if not tabular:
            return Answer(statement.format, iter((found,)), summary)
        return Answer("TabSeparated" if found else "", iter((found[found.find(b"\n") + 1 :],)), summary)

    def close(self) -> None:
        """Let go of the handle."""
        self._handle.close()


class Engine:
    """One engine on one directory, which no other process may have open."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._path = path / "data"
        self._owner = (path / "lock").open("w")
        try:
            fcntl.flock(self._owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._owner.close()
            raise RuntimeError(f"another process has {path} open: one process per directory") from None
        self._keeper: Any = chdb.connect(str(self._path))  # keeps the engine open between requests
        self._sessions: dict[str, Session] = {}
        self._changing = threading.Lock()
        self.timezone: str = self._keeper.query("SELECT timezone()", "TabSeparated").bytes().decode().strip()

    def session(self, name: str, *, must_exist: bool = False) -> Session:
        """Return a session of a name, already taken; without a name one that nobody else has."""
        with self._changing:
            self._forget_idle()
            known = self._sessions.get(name) if name else None
            if known is None and must_exist:
                raise EngineFault(SESSION_NOT_FOUND, f"Session {name} not found")
            session = known or Session(self._path)
            session.take()
            if name:
                self._sessions[name] = session
        return session

    def close(self) -> None:
        """Close every session, then the engine; what was inserted is on disk already."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
        self._keeper.close()
        self._owner.close()

    def _forget_idle(self) -> None:
        now = time.monotonic()
        for name in [name for name, each in self._sessions.items() if not each.busy and each.expires < now]:
            self._sessions.pop(name).close()


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _identifier(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace("`", "\\`")
    return f"`{escaped}`"
