"""Free loopback ports, chosen once per stack and remembered."""

import json
import socket
from pathlib import Path

LOOPBACK = "127.0.0.1"


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
    while True:
        with socket.socket() as probe:
            probe.bind((LOOPBACK, 0))
            port: int = probe.getsockname()[1]
        if port not in avoid:
            return port
