"""Free loopback ports, chosen once per stack and remembered."""

import json
import secrets
import socket
from pathlib import Path

LOOPBACK = "127.0.0.1"
PORTS = range(20_000, 32_768)  # under the ports of outgoing connections: Linux begins at 32,768, others higher


def port_for(book: Path, name: str) -> int:
    """Return the port remembered under `name`, or another free one where it is taken by now."""
    ports = known_ports(book)
    remembered = ports.get(name)
    if remembered is not None and is_free(remembered):
        return remembered
    ports[name] = _free_port(avoid=set(ports.values()))
    book.write_text(json.dumps(ports, indent=1, sort_keys=True))
    return ports[name]


def known_ports(book: Path) -> dict[str, int]:
    """Every remembered port by name."""
    ports: dict[str, int] = json.loads(book.read_text()) if book.exists() else {}
    return ports


def is_free(port: int) -> bool:
    """Say whether nobody listens on a loopback port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port in TIME_WAIT is free
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def _free_port(avoid: set[int]) -> int:
    """Pick one that no outgoing connection is given: it is still free when its server comes to bind it."""
    while True:
        port = secrets.choice(PORTS)
        if port not in avoid and is_free(port):
            return port
