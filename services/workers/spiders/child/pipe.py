"""Both ends of what a spider's process and its worker say to one another, as the process has them.

A thread of its own sends what has gathered, so that it goes out while the reactor is busy, and hears the worker: when
that is gone, so is the process.
"""

import os
import select
import signal
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

import msgspec

from services.workers.spiders.frames import HEADER, ITEMS, LINES, NOTE, ROUTED, SNAPSHOT, Note, RoutedAnswer, Snapshot

FLUSH_SECONDS = 0.25
FULL_BYTES = 64 * 1024
_encode = msgspec.json.Encoder().encode


class Pipe:
    """Sends frames; lines of items and of the log gather first."""

    def __init__(self, control: int, frames: int) -> None:
        self._control, self._frames = control, frames
        self._lock = threading.RLock()
        self._gathered: dict[int, list[bytes]] = {ITEMS: [], LINES: []}
        self._bytes = {ITEMS: 0, LINES: 0}
        self._snapshot: Callable[[], Snapshot] | None = None
        self._every_seconds = 30.0
        self._answered: Callable[[RoutedAnswer], None] | None = None
        self._heard: list[bytes] = []  # pieces of a line that is not whole

    def start(self) -> None:
        """Begin to send and to hear, in a thread."""
        threading.Thread(target=self._run, name=f"{__name__}", daemon=True).start()

    def snapshots(self, of: Callable[[], Snapshot], every_seconds: float) -> None:
        """Send statistics from now on."""
        self._snapshot, self._every_seconds = of, every_seconds

    def answers(self, to: Callable[[RoutedAnswer], None]) -> None:
        """Hand on answers to routed requests from now on, in the thread of the pipe."""
        self._answered = to

    def add(self, kind: int, line: bytes) -> None:
        """Gather a line: of ITEMS, or of LINES."""
        with self._lock:
            self._gathered[kind].append(line)
            self._bytes[kind] += len(line)
            if self._bytes[kind] >= FULL_BYTES:
                self.flush()

    def note(self, note: Note) -> None:
        """Send a note at once, behind what came before it."""
        self.send(NOTE, note)

    def send(self, kind: int, value: Any) -> None:
        """Send a value at once, behind what came before it."""
        with self._lock:
            self.flush()
            self._write(kind, _encode(value))

    def flush(self) -> None:
        """Send what has gathered."""
        with self._lock:
            for kind, lines in self._gathered.items():
                if lines:
                    self._gathered[kind], self._bytes[kind] = [], 0
                    self._write(kind, b"\n".join(lines))

    def route(self, request: msgspec.Struct) -> None:
        """Ask the worker to make a request."""
        self.send(ROUTED, request)

    def _write(self, kind: int, data: bytes) -> None:
        view = memoryview(HEADER.pack(kind, len(data)) + data)
        while view:
            view = view[os.write(self._frames, view) :]

    def _run(self) -> None:
        sent_at = monotonic()
        while True:
            readable, _, _ = select.select([self._control], [], [], FLUSH_SECONDS)
            if readable and not self._hear():
                os.killpg(0, signal.SIGKILL)  # the worker is gone, and with it whoever would hear of the spider
            self.flush()
            if self._snapshot is not None and monotonic() >= sent_at + self._every_seconds:
                sent_at = monotonic()
                self.send(SNAPSHOT, self._snapshot())

    def _hear(self) -> bool:
        data = os.read(self._control, FULL_BYTES)
        first, *others = data.split(b"\n")
        self._heard.append(first)
        for piece in others:
            line, self._heard = b"".join(self._heard), [piece]
            if self._answered is not None:
                self._answered(msgspec.json.decode(line, type=RoutedAnswer))
        return bool(data)
