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
    """One process as it is now; `lag` in positions and `reason` are what its /ready says, `parts` is all of that."""

    name: str
    state: str  # ready | not ready | down
    pid: int | None
    uptime_seconds: float
    restarts: int
    endpoint: str
    lag: int | None = None
    reason: str = ""
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)


def look(state: StackState) -> tuple[ProcessStatus, ...]:
    """Ask every process of a stack how it is."""
    return tuple(_look_at(process) for process in state.processes)


def _look_at(process: ProcessState) -> ProcessStatus:
    alive = process.identity is not None and is_alive(process.identity)
    answers, parts = _ask(process) if alive else (False, {})
    lags = [part["lag"] for part in parts.values() if isinstance(part.get("lag"), int)]
    reasons = [f"{name}: {part['reason']}" for name, part in parts.items() if part.get("reason")]
    return ProcessStatus(
        name=process.name,
        state=("ready" if answers else "not ready") if alive else "down",
        pid=process.identity.pid if alive and process.identity else None,
        uptime_seconds=round(time.time() - process.since, 1) if alive else 0.0,
        restarts=process.restarts,
        endpoint=process.endpoint,
        lag=sum(lags) if lags else None,
        reason="; ".join(reasons),
        parts=parts,
    )


def _ask(process: ProcessState) -> tuple[bool, dict[str, dict[str, Any]]]:
    """Whether the process is ready, and the parts that its /ready names."""
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
    parts = body.get("parts", {}) if isinstance(body, dict) else {}
    return status == HTTPStatus.OK, parts
