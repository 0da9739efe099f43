"""The door of a spider whose network has no interface: its worker resolves and connects for it, where that is allowed.

Each request comes with a socket to answer on, so that many threads may ask at once. What is handed over is a socket of
the machine's network that connects to an address which was checked here, and `child/calls.py` keeps it there. None is
handed over for datagrams, which each say anew where they go.
"""

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from services.runtime.networks import Networks, refusal

ASK_BYTES = 4 * 1024
ANSWER_BYTES = 64 * 1024
MOST_ASKED = 256  # at once; what is asked beyond is not answered
INET = (socket.AF_INET, socket.AF_INET6)


class ResolveAsked(Struct, tag="resolve"):
    """Arguments of getaddrinfo."""

    host: str | None
    port: int | str | None
    family: int
    kind: int
    proto: int
    flags: int


class ConnectAsked(Struct, tag="connect"):
    """A socket that is wanted."""

    family: int
    kind: int
    address: list[Any]


class Resolved(Struct):
    """What getaddrinfo said; `error` empty: no error."""

    found: list[tuple[int, int, int, str, list[Any]]] = []
    code: int = 0
    error: str = ""


class Opened(Struct):
    """What connecting said: 0, EINPROGRESS or another errno."""

    code: int


encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(ResolveAsked | ConnectAsked).decode


class Door:
    """Answers the spider at the other end of `ours`."""

    def __init__(self, ours: socket.socket, allowed: Networks) -> None:
        self._ours, self._allowed = ours, allowed
        self._answering: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()

    def open(self) -> None:
        """Begin to answer."""
        self._ours.setblocking(False)
        self._loop.add_reader(self._ours.fileno(), self._hear)

    async def close(self) -> None:
        """Answer no more."""
        self._loop.remove_reader(self._ours.fileno())
        self._ours.close()
        for answering in self._answering:
            answering.cancel()
        if self._answering:
            await asyncio.wait(self._answering)

    def _hear(self) -> None:
        try:
            data, descriptors, _, _ = socket.recv_fds(self._ours, ASK_BYTES, 4)
        except BlockingIOError:
            return
        except OSError:
            self._loop.remove_reader(self._ours.fileno())
            return
        if not data:  # the spider has gone
            self._loop.remove_reader(self._ours.fileno())
            return
        with _closed(descriptors[1:]):
            if not descriptors:
                return
        try:
            to = socket.socket(fileno=descriptors[0])
        except OSError:  # it is no socket
            os.close(descriptors[0])
            return
        if len(self._answering) >= MOST_ASKED:
            to.close()
            return
        answering = self._loop.create_task(self._answer(data, to))
        self._answering.add(answering)
        answering.add_done_callback(self._answering.discard)

    async def _answer(self, data: bytes, to: socket.socket) -> None:
        with to, contextlib.suppress(msgspec.DecodeError, OSError):  # it asks what nobody knows, or listens no more
            to.setblocking(False)
            match _decode(data):
                case ResolveAsked() as asked:
                    to.send(encode(await self._resolved(asked)))
                case ConnectAsked() as asked:
                    code, descriptor = self._connecting(asked)
                    with _closed([] if descriptor is None else [descriptor]) as handed:
                        socket.send_fds(to, [encode(Opened(code))], handed)

    async def _resolved(self, asked: ResolveAsked) -> Resolved:
        try:
            found = await self._loop.getaddrinfo(
                asked.host, asked.port, family=asked.family, type=asked.kind, proto=asked.proto, flags=asked.flags
            )
        except socket.gaierror as error:
            return Resolved(code=error.errno or socket.EAI_FAIL, error=str(error.strerror))
        except (OSError, ValueError) as error:
            return Resolved(code=int(socket.EAI_FAIL), error=str(error))
        return Resolved([(int(f), int(k), p, str(c), list(address)) for f, k, p, c, address in found][:64])

    def _connecting(self, asked: ConnectAsked) -> tuple[int, int | None]:
        """Return an errno, and the descriptor of a socket that connects."""
        kind = asked.kind & 0xF  # without SOCK_NONBLOCK and SOCK_CLOEXEC
        try:
            if (
                asked.family not in INET
                or kind != socket.SOCK_STREAM
                or refusal(str(asked.address[0]), allowed=self._allowed)
            ):
                return errno.EACCES, None
            sock = socket.socket(asked.family, kind)
            sock.setblocking(False)
            code = sock.connect_ex(tuple(asked.address))
        except (ValueError, TypeError, IndexError, OSError, OverflowError):
            return errno.EINVAL, None
        return code, sock.detach()


@contextlib.contextmanager
def _closed(descriptors: list[int]) -> Iterator[list[int]]:
    try:
        yield descriptors
    finally:
        for number in descriptors:
            os.close(number)
