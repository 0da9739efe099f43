"""The way out of a network that has no interface: the worker resolves, opens sockets and hands them over."""

import errno
import os
import select
import socket
from typing import Any
from weakref import WeakSet

import msgspec

from services.workers.spiders.door import ANSWER_BYTES, ConnectAsked, Opened, ResolveAsked, Resolved, encode

CONNECT_SECONDS = 60.0  # that a blocking socket without a timeout waits


class Through:
    """Asks the door at `number`, a descriptor; any thread may."""

    def __init__(self, number: int) -> None:
        self._door = socket.socket(fileno=number)
        self._handed: WeakSet[socket.socket] = WeakSet()  # in whose place the worker's socket is

    def resolve(self, host: Any, port: Any, family: int, kind: int, proto: int, flags: int) -> list[Any]:
        """Have the worker resolve."""
        name = host.decode() if isinstance(host, bytes) else host
        number = port.decode() if isinstance(port, bytes) else port
        answer, _ = self._ask(ResolveAsked(name, number, int(family), int(kind), int(proto), int(flags)))
        found = msgspec.json.decode(answer, type=Resolved)
        if found.error:
            raise socket.gaierror(found.code, found.error)
        return [
            (socket.AddressFamily(family), socket.SocketKind(kind), proto, canonical, tuple(address))
            for family, kind, proto, canonical, address in found.found
        ]

    def connect(self, sock: socket.socket, address: Any) -> int:
        """Put a socket that the worker connects in the place of this one; asked again, say how far that is.

        Twisted calls `connect_ex` a second time to hear of EISCONN. The socket must then stay as it is: an event loop
        watches it, and would hear nothing of another in its place.
        """
        if sock in self._handed:
            return _so_far(sock)
        answer, descriptors = self._ask(ConnectAsked(int(sock.family), int(sock.type), list(address)))
        opened = msgspec.json.decode(answer, type=Opened)
        if not descriptors:
            return opened.code
        os.dup2(descriptors[0], sock.fileno(), inheritable=False)
        os.close(descriptors[0])
        self._handed.add(sock)
        timeout = sock.gettimeout()
        if timeout == 0 or opened.code != errno.EINPROGRESS:
            os.set_blocking(sock.fileno(), timeout is None)
            return opened.code
        return _connected(sock, timeout)

    def _ask(self, what: msgspec.Struct) -> tuple[bytes, list[int]]:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            socket.send_fds(self._door, [encode(what)], [theirs.fileno()])
            theirs.close()
            data, descriptors, _, _ = socket.recv_fds(ours, ANSWER_BYTES, 1)
            return data, descriptors


def _so_far(sock: socket.socket) -> int:
    """Return what a second `connect` on this socket would say."""
    if code := sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
        return code
    try:
        sock.getpeername()
    except OSError:
        return errno.EALREADY
    return errno.EISCONN


def _connected(sock: socket.socket, timeout: float | None) -> int:
    """Wait as a socket that blocks would, and return what came of it."""
    waiting = select.poll()
    waiting.register(sock.fileno(), select.POLLOUT)
    ready = waiting.poll(1_000 * (CONNECT_SECONDS if timeout is None else timeout))
    os.set_blocking(sock.fileno(), timeout is None)
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) if ready else errno.ETIMEDOUT
