"""Whether a process makes progress: red when one of its loops has not come round for some seconds."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from services.runtime.logs import without_secrets
from services.runtime.metrics import level
from services.runtime.time import monotonic

STALL_SECONDS = 8.0  # below ten, so that who looks every second sees red within ten
Clock = Callable[[], float]


@dataclass(slots=True)
class Progress:
    """One loop's sign of life. A loop that waits for nothing still beats; safe to use from any thread."""

    name: str
    clock: Clock = monotonic
    _last_beat: float | None = None
    _reason: str = ""
    _figures: dict[str, object] = field(default_factory=dict)

    def beat(self, **figures: object) -> None:
        """Say that the loop came round; `figures` (positions, lag, counts) show up in /ready."""
        self._last_beat = self.clock()
        self._reason = ""
        if figures:
            self._figures = {**self._figures, **figures}

    def stalled(self, reason: str, **figures: object) -> None:
        """Say that the loop cannot go on, and why; red until the next beat."""
        self._reason = without_secrets(reason)  # /ready is open to everybody, and errors name connection strings
        self._figures = {**self._figures, **figures}

    def state(self) -> dict[str, Any]:
        """Return `ready`, and where it is false, `reason`; beside them the figures of the last beat."""
        reason = self._reason or self._silence()
        state: dict[str, Any] = {"ready": not reason, **self._figures}
        if reason:
            state["reason"] = reason
        return state

    def _silence(self) -> str:
        if self._last_beat is None:
            return "not started yet"
        silent = self.clock() - self._last_beat
        return f"no progress for {silent:.0f} s" if silent > STALL_SECONDS else ""


class Health:
    """The parts of a process that have to make progress for it to be ready."""

    def __init__(self, service: str, clock: Clock = monotonic) -> None:
        self.service = service
        self._clock = clock
        self._parts: dict[str, Progress] = {}

    def part(self, name: str) -> Progress:
        """Return the Progress of a part, made at the first call; from then on the process needs it to be ready."""
        return self._parts.setdefault(name, Progress(name, self._clock))

    def report(self, asked: Collection[str] = ()) -> dict[str, Any]:
        """Return `ready`, `service`, and the state of each part; a process without parts is not ready.

        Where parts are asked for, these alone decide, and one that is not there is not ready.
        """
        parts = {name: progress.state() for name, progress in list(self._parts.items())}
        for name, state in parts.items():
            level("process_ready", float(state["ready"]), part=name)
        parts |= {name: {"ready": False, "reason": "no such part"} for name in asked if name not in parts}
        ready = bool(parts) and all(state["ready"] for name, state in parts.items() if not asked or name in asked)
        return {"ready": ready, "service": self.service, "parts": parts}
