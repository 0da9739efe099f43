"""What a spider's process may connect to: what `services/runtime/networks.py` allows, below Scrapy and Twisted.

A name is resolved once, and what is connected to was checked, so no address can be swapped in between. The interpreter
asks the audit hook for every socket, whichever way it was made, and never forgets it. Why something is refused is said
in the log, and whoever asked gets an error of the network: Twisted waits for ever after others.
"""

import errno
import ipaddress
import logging
import socket
import sys
from typing import Any, Protocol

from services.runtime.networks import Networks, refusal
from services.workers.spiders.frames import OURS

INET = (socket.AF_INET, socket.AF_INET6)
PROGRAMS = frozenset(("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "pty.spawn"))
SENT = frozenset(("socket.connect", "socket.sendto", "socket.sendmsg"))
MOST_SAID = 1_000  # hosts whose refusal is said; a spider may follow links to many

log = logging.getLogger(OURS)


class AddressRefused(PermissionError):
    """The address may not be reached by a spider."""


class Way(Protocol):
    """How names are resolved and sockets connected."""

    def resolve(self, host: Any, port: Any, family: int, kind: int, proto: int, flags: int) -> list[Any]:
        """Return what `socket.getaddrinfo` does."""

    def connect(self, sock: socket.socket, address: Any) -> int:
        """Connect to an address that was checked, and return an errno, as `socket.connect_ex` does."""


class Direct:
    """The machine's own network."""

    def __init__(self) -> None:
        self._getaddrinfo, self._connect_ex = socket.getaddrinfo, socket.socket.connect_ex

    def resolve(self, host: Any, port: Any, family: int, kind: int, proto: int, flags: int) -> list[Any]:
        """Ask the resolver."""
        return self._getaddrinfo(host, port, family, kind, proto, flags)

    def connect(self, sock: socket.socket, address: Any) -> int:
        """Connect the socket."""
        return self._connect_ex(sock, address)


class Guard:
    """Checks every address from `install` on; where `programs` are not allowed none is started: it has no such hook."""

    def __init__(self, way: Way, allowed: Networks, *, programs: bool) -> None:
        self._way, self._allowed, self._programs = way, allowed, programs
        self._said: set[str] = set()

    def install(self) -> None:
        """Stand in for the functions of `socket`, before anybody imports them, and behind all of them."""
        connect_ex = self.connect_ex

        def connect(sock: socket.socket, address: Any) -> None:
            code = connect_ex(sock, address)
            if code == errno.EACCES:
                raise AddressRefused(code, "a spider may not reach this address", str(address))
            if code:
                raise OSError(code, errno.errorcode.get(code, ""))

        def checked(sock: socket.socket, address: Any) -> int:
            return connect_ex(sock, address)

        socket.socket.connect = connect  # type: ignore[assignment, method-assign]
        socket.socket.connect_ex = checked  # type: ignore[assignment, method-assign]
        socket.getaddrinfo = self.getaddrinfo
        socket.gethostbyname = lambda name: self.getaddrinfo(name, None, socket.AF_INET)[0][4][0]
        sys.addaudithook(self._hook)

    def getaddrinfo(
        self,
        host: Any,
        port: Any,
        family: int = 0,
        type: int = 0,  # noqa: A002
        proto: int = 0,
        flags: int = 0,
    ) -> list[Any]:
        """Return the addresses of a host that may be reached."""
        found = self._way.resolve(host, port, family, type, proto, flags)
        allowed = [each for each in found if self._reason(str(each[4][0])) is None]
        if found and not allowed:
            reason = self._reason(str(found[0][4][0]))
            self._say(str(host), str(reason))
            raise socket.gaierror(socket.EAI_FAIL, f"{host}: {reason}")
        return allowed

    def connect_ex(self, sock: socket.socket, address: Any) -> int:
        """Connect where that is allowed; EACCES where not."""
        if sock.family not in INET:
            self._say(str(address), "a spider reaches addresses of the internet alone")
            return errno.EACCES
        if not _is_address(address[0]):
            address = self.getaddrinfo(address[0], address[1], sock.family, sock.type)[0][4]
        if reason := self._reason(address[0]):
            self._say(str(address[0]), reason)
            return errno.EACCES
        return self._way.connect(sock, address)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in SENT:
            sock, address = arguments[0], arguments[1]
            if address is None:
                return  # of a socket that is connected
            host = address[0] if sock.family in INET and isinstance(address, tuple) else ""
            if not _is_address(host):
                raise AddressRefused(f"{host!r} is no address that could be checked")
            if reason := self._reason(host):
                raise AddressRefused(reason)
        elif event in PROGRAMS and not self._programs:
            raise PermissionError("a spider starts no programs here: this machine gives it no network of its own")

    def _reason(self, address: str) -> str | None:
        return refusal(address, allowed=self._allowed)

    def _say(self, host: str, reason: str) -> None:
        if host not in self._said and len(self._said) < MOST_SAID:
            self._said.add(host)
            log.warning("not reached: %s: %s", host, reason)


def _is_address(host: Any) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0] if isinstance(host, str) else "")
    except ValueError:
        return False
    return True
