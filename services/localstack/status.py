"""Look at a stack from outside: what runs, since when, is it ready, how far behind is it."""

import json
import socket
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from services.localstack.identity import is_alive
from services.localstack.ports import LOOPBACK
from services.localstack.program import PROBE_SECONDS, http_get
from services.localstack.state import ProcessState, StackState


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    """One process as it is now; `ready` is the body of its /ready where it has one."""

    name: str
    state: str  # ready | not ready | down
    pid: int | None
    uptime_seconds: float
    restarts: int
    endpoint: str
    ready: dict[str, Any] = field(default_factory=dict)


def look(state: StackState) -> tuple[ProcessStatus, ...]:
    """Ask every process of a stack how it is."""
    return tuple(_look_at(process) for process in state.processes)


def _look_at(process: ProcessState) -> ProcessStatus:
    alive = process.identity is not None and is_alive(process.identity)
    answers, body = _ask(process) if alive else (False, {})
    return ProcessStatus(
        name=process.name,
        state=("ready" if answers else "not ready") if alive else "down",
        pid=process.identity.pid if alive and process.identity else None,
        uptime_seconds=round(time.time() - process.since, 1) if alive else 0.0,
        restarts=process.restarts,
        endpoint=process.endpoint,
        ready=body,
    )


def _ask(process: ProcessState) -> tuple[bool, dict[str, Any]]:
    if not process.path:
        try:
            socket.create_connection((LOOPBACK, process.port), PROBE_SECONDS).close()
        except OSError:
            return False, {}
        return True, {}
    status, content = http_get(process.port, process.path)
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    return status == HTTPStatus.OK, body if isinstance(body, dict) else {}
