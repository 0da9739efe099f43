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
PRINTED_BYTES = 16 * 1024  # of the end of what it printed
AHEAD_BYTES = 1024 * 1024  # that are read before somebody asks for them
LAST_BYTES = 64 * 1024 * 1024  # the same of a spider that is to end: it must not wait for whoever waits for it
_encode = msgspec.json.Encoder().encode
Route = Callable[[RoutedRequest], Awaitable[RoutedAnswer]]


class Process:
    """One process, from `start` to `close`."""

    def __init__(self, route: Route | None = None) -> None:
        self._route = route
        self._heard: asyncio.Queue[tuple[int, Heard]] = asyncio.Queue()  # with its size
        self._ahead_bytes, self._most_ahead = 0, AHEAD_BYTES
        self._room = asyncio.Event()
        self._killed: Killed = ""
        self._printed = b""
        self._works: set[asyncio.Task[None]] = set()
        self._routing: set[asyncio.Task[None]] = set()
        self._routed = 0
        self._transports: list[asyncio.BaseTransport] = []
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
        except BaseException:
            if door:
                door.close()
            raise
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
        frames, printed = await self._reader(stdout), await self._reader(stderr)
        self._control = await self._writer(stdin)
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
            size, heard = await self._heard.get()
            self._ahead_bytes -= size
            self._room.set()
            yield heard
            if isinstance(heard, Ended):
                return

    async def stop(self, grace_seconds: float) -> None:
        """Ask it to end by itself, and kill it where it does not in time; who waits for this need not hear it."""
        if self._process is None or self._gone.done():
            return
        self._killed = self._killed or "stopped"
        self._most_ahead = LAST_BYTES
        self._room.set()
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        await asyncio.wait({self._gone}, timeout=grace_seconds)
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
        for transport in self._transports:
            transport.close()
        if self._door:
            await self._door.close()

    async def _reader(self, file: object) -> asyncio.StreamReader:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MAX_FRAME_BYTES)
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
        self._transports.append(transport)
        return reader

    async def _writer(self, file: object) -> asyncio.StreamWriter:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, file)
        self._transports.append(transport)
        return asyncio.StreamWriter(transport, protocol, None, loop)

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
                while self._ahead_bytes >= self._most_ahead:
                    self._room.clear()
                    await self._room.wait()
                self._put(length, heard)

    def _put(self, size: int, heard: Heard) -> None:
        self._ahead_bytes += size
        self._heard.put_nowait((size, heard))

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
        self._put(0, Ended(code, self._killed, self._routed, self._printed.decode("utf-8", "replace")))


def _heard(kind: int, data: bytes) -> Heard | RoutedRequest:
    if kind in (ITEMS, LINES):
        return (Items if kind == ITEMS else Lines)(data.split(b"\n"))
    known: dict[int, type[Snapshot | Note | RoutedRequest]] = {SNAPSHOT: Snapshot, NOTE: Note, ROUTED: RoutedRequest}
    if kind not in known:
        raise ValueError(f"a frame of kind {kind}")
    return msgspec.json.decode(data, type=known[kind])


def _pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
