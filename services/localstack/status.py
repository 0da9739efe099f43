"""Look at a stack from outside: what runs, since when, is it ready, how far behind is it."""

import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any

from services.localstack.identity import is_alive
from services.localstack.postgres import postgres_answers
from services.localstack.program import PROBE_SECONDS, http_get, kafka_answers
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
    """Ask every process of a stack how it is, all at once: one that stands still takes seconds to say nothing."""
    with ThreadPoolExecutor(max_workers=max(1, len(state.processes))) as threads:
        return tuple(threads.map(partial(_look_at, state.environ), state.processes))


def _look_at(environ: Mapping[str, str], process: ProcessState) -> ProcessStatus:
    alive = process.identity is not None and is_alive(process.identity)
    answers, parts = _ask(process, environ) if alive else (False, {})
    lags = [part["lag"] for part in parts.values() if isinstance(part.get("lag"), int)]
    reasons = [f"{name}: {part['reason']}" for name, part in parts.items() if part.get("reason")]
    silent = alive and not answers and not reasons
    return ProcessStatus(
        name=process.name,
        state=("ready" if answers else "not ready") if alive else "down",
        pid=process.identity.pid if alive and process.identity else None,
        uptime_seconds=round(time.time() - process.since, 1) if alive else 0.0,
        restarts=process.restarts,
        endpoint=process.endpoint,
        lag=sum(lags) if lags else None,
        reason=f"does not answer within {PROBE_SECONDS:g} s" if silent else "; ".join(reasons),
        parts=parts,
    )


def _ask(process: ProcessState, environ: Mapping[str, str]) -> tuple[bool, dict[str, dict[str, Any]]]:
    """Whether the process is ready, and the parts that its /ready names."""
    if not process.path:
        return _answers(process, environ), {}
    status, content = http_get(process.port, process.path)
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    parts = body.get("parts", {}) if isinstance(body, dict) else {}
    return status == HTTPStatus.OK, parts


def _answers(process: ProcessState, environ: Mapping[str, str]) -> bool:
    """Ask one that speaks no HTTP in its own language: the kernel takes connections also where the process stands."""
    match process.name:
        case "broker":
            return kafka_answers(process.port)
        case "postgres":
            return postgres_answers(environ.get("JOBLEDGER_POSTGRES", ""))
        case _:
            return False
