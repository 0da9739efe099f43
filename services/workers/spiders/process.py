"""A spider's process as its worker has it: started apart, fed, heard, watched, stopped and killed."""

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import msgspec

from services.runtime.networks import Networks
from services.runtime.time import monotonic
from services.workers.spiders import tree
from services.workers.spiders.door import Door
from services.workers.spiders.frames import (
    HEADER,
    ITEMS,
    LENGTH,
    LINES,
    MAX_FRAME_BYTES,
    MOST_ROUTED,
    NOTE,
    ROUTED,
    SNAPSHOT,
    Note,
    RoutedAnswer,
    RoutedRequest,
    Snapshot,
    Spec,
)
from services.workers.spiders.protocol import Ended, Heard, Items, Killed, Lines
from services.workers.spiders.sandbox import CHILD, environment

WATCH_SECONDS = 0.25  # between two looks at the memory
STOP_SECONDS = 4.0  # that a spider has to end by itself; a worker that is stopped has 7
PRINTED_BYTES = 16 * 1024  # of the end of what it printed
AHEAD = 16  # frames that are read before somebody asks for them
_encode = msgspec.json.Encoder().encode
Route = Callable[[RoutedRequest], Awaitable[RoutedAnswer]]


class Process:
    """One process, from `start` to `close`."""

    def __init__(self, route: Route | None = None) -> None:
        self._route = route
        self._heard: asyncio.Queue[Heard] = asyncio.Queue(AHEAD)
        self._killed: Killed = ""
        self._printed = b""
        self._works: set[asyncio.Task[None]] = set()
        self._routing: set[asyncio.Task[None]] = set()
        self._routed = 0
        self._door: Door | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._gone: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def start(
        self, spec: Spec, allowed: Networks, env: Mapping[str, str], folder: Path, uid: int | None, *, apart: bool
    ) -> None:
        """Start it in a folder; `apart`: in a network of its own, where the machine allows that."""
        loop = asyncio.get_running_loop()
        spec.allowed = [str(each) for each in allowed]
        door, theirs = _pair() if apart and sys.platform.startswith("linux") else (None, None)
        try:
            self._process = subprocess.Popen(  # noqa: ASYNC220  # from this thread: it dies with who started it
                [sys.executable, "-P", "-m", CHILD, str(theirs.fileno() if theirs else -1), "own" if uid else "same"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()] if theirs else [],
                env=environment(env, folder),
                cwd=folder,
                start_new_session=True,
                user=uid,
                group=uid,
                extra_groups=None if uid is None else [],
            )
        finally:
            if theirs:
                theirs.close()
        threading.Thread(target=self._wait, args=(loop,), name="spider", daemon=True).start()
        if door:
            self._door = Door(door, allowed)
            self._door.open()
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        frames, printed = await _reader(stdout), await _reader(stderr)
        self._control = await _writer(stdin)
        told = _encode(spec)
        with contextlib.suppress(OSError):  # it has gone already, which is heard below
            self._control.write(LENGTH.pack(len(told)) + told)
            await self._control.drain()
        reading = [self._work(self._read(frames)), self._work(self._keep(printed))]
        self._work(self._watch(spec.memory_mb * 1024 * 1024))
        self._work(self._end(reading))

    async def heard(self) -> AsyncIterator[Heard]:
        """Yield what it says, and Ended at the end."""
        while True:
            heard = await self._heard.get()
            yield heard
            if isinstance(heard, Ended):
                return

    async def stop(self) -> None:
        """Ask it to end by itself, and kill it where it does not in time."""
        if self._process is None or self._gone.done():
            return
        self._killed = self._killed or "stopped"
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        await asyncio.wait({self._gone}, timeout=STOP_SECONDS)
        if not self._gone.done():
            self._kill("stopped")

    async def close(self) -> None:
        """Kill it if it runs, and let go of all that was for it."""
        if self._process is not None:
            tree.kill(self._process.pid)  # also what it started and left behind
            await asyncio.wait({self._gone})
        for work in (*self._works, *self._routing):
            work.cancel()
        if self._works or self._routing:
            await asyncio.wait({*self._works, *self._routing})
        if self._door:
            await self._door.close()

    def _work(self, what: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        work = asyncio.ensure_future(what)
        self._works.add(work)
        return work

    def _wait(self, loop: asyncio.AbstractEventLoop) -> None:
        assert self._process is not None
        code = self._process.wait()
        with contextlib.suppress(RuntimeError):  # the loop has closed
            loop.call_soon_threadsafe(self._gone.set_result, code)

    def _kill(self, why: Killed) -> None:
        assert self._process is not None
        if not self._gone.done():
            self._killed = why if self._killed in ("", "stopped") else self._killed
            tree.kill(self._process.pid)

    async def _read(self, frames: asyncio.StreamReader) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                kind, length = HEADER.unpack(await frames.readexactly(HEADER.size))
                try:
                    if length > MAX_FRAME_BYTES:
                        raise ValueError(f"a frame of {length} bytes")
                    heard = _heard(kind, await frames.readexactly(length))
                except (ValueError, msgspec.DecodeError):
                    self._kill("tampered")
                    return
                if isinstance(heard, RoutedRequest):
                    routing = asyncio.ensure_future(self._answer(heard))
                    self._routing.add(routing)
                    routing.add_done_callback(self._routing.discard)
                    continue
                if isinstance(heard, Snapshot):
                    heard.routed = self._routed
                if isinstance(heard, Note) and heard.about == "memory":
                    self._kill("memory")
                    continue
                await self._heard.put(heard)

    async def _answer(self, asked: RoutedRequest) -> None:
        if self._route is None:
            answer = RoutedAnswer(asked.number, error="there is none: the operator sets JOBLEDGER_UNBLOCKER_URL")
        elif len(self._routing) > 2 * MOST_ROUTED:  # the process keeps well below, unless it runs other code than ours
            answer = RoutedAnswer(asked.number, error=f"more than {MOST_ROUTED} requests at a time")
        else:
            answer = await self._route(asked)
        self._routed += bool(answer.status)
        with contextlib.suppress(OSError):
            self._control.write(_encode(answer) + b"\n")
            await self._control.drain()

    async def _keep(self, printed: asyncio.StreamReader) -> None:
        while piece := await printed.read(PRINTED_BYTES):
            self._printed = (self._printed + piece)[-PRINTED_BYTES:]

    async def _watch(self, most_bytes: int) -> None:
        assert self._process is not None
        looked_at = monotonic()
        while not self._gone.done():
            if tree.resident_bytes(self._process.pid) > most_bytes:
                self._kill("memory")
                return
            await asyncio.wait({self._gone}, timeout=max(0.0, looked_at + WATCH_SECONDS - monotonic()))
            looked_at = monotonic()

    async def _end(self, reading: list[asyncio.Task[None]]) -> None:
        """Say that it has gone, behind all that it said; whoever it left behind does not keep us."""
        assert self._process is not None
        code = await asyncio.shield(self._gone)
        tree.kill(self._process.pid)
        await asyncio.wait(reading)
        await self._heard.put(Ended(code, self._killed, self._routed, self._printed.decode("utf-8", "replace")))


def _heard(kind: int, data: bytes) -> Heard | RoutedRequest:
    if kind in (ITEMS, LINES):
        return (Items if kind == ITEMS else Lines)(data.split(b"\n"))
    known: dict[int, type[Snapshot | Note | RoutedRequest]] = {SNAPSHOT: Snapshot, NOTE: Note, ROUTED: RoutedRequest}
    if kind not in known:
        raise ValueError(f"a frame of kind {kind}")
    return msgspec.json.decode(data, type=known[kind])


def _pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


async def _reader(file: object) -> asyncio.StreamReader:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_FRAME_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    return reader


async def _writer(file: object) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, file)
    return asyncio.StreamWriter(transport, protocol, None, loop)
