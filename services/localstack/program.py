"""What the local stack runs, as data: a command, how one knows that it is ready, how it is stopped."""

import http.client
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from signal import SIGTERM, Signals

from services.localstack.ports import LOOPBACK

PROBE_SECONDS = 2.0
API_VERSIONS = 18  # the request that every Kafka client sends first


def _nothing() -> None:
    return


@dataclass(frozen=True, slots=True)
class Program:
    """One program; `environ` is added to the supervisor's own environment, times are in seconds."""

    name: str
    argv: tuple[str, ...]
    ready: Callable[[], bool]
    port: int
    endpoint: str  # as a person would write it down; without secrets
    path: str = ""  # answers 200 when it is ready; empty: it does not speak HTTP
    environ: Mapping[str, str] = field(default_factory=dict)
    ready_seconds: float = 60.0
    stop_signal: Signals = SIGTERM
    stop_seconds: float = 15.0
    after_stop: Callable[[], None] = _nothing


def kafka_answers(port: int, host: str = LOOPBACK) -> bool:
    """Say whether a Kafka broker answers its clients' first request."""
    request = struct.pack(">hhih", API_VERSIONS, 0, 1, -1)
    try:
        with socket.create_connection((host, port), PROBE_SECONDS) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            return len(connection.recv(8)) > 0
    except OSError:
        return False


def http_answers(port: int, path: str) -> bool:
    """Say whether a GET on the loopback port answers 200."""
    return http_get(port, path)[0] == http.client.OK


def http_get(port: int, path: str) -> tuple[int, bytes]:
    """GET from the loopback port; status 0 when nobody answers."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()
