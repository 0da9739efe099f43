"""A circuit for each destination: one that failed several times in a row is asked once an interval only."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from services.runtime.time import monotonic

FAILURES = 3  # in a row
PROBE_SECONDS = 10.0  # between two probes of a destination that failed so often


@dataclass(slots=True)
class _Circuit:
    failures: int = 0
    probe_at: float = 0.0


class Circuits:
    """Knows only destinations that failed last."""

    def __init__(
        self, clock: Callable[[], float] = monotonic, *, failures: int = FAILURES, probe: float = PROBE_SECONDS
    ) -> None:
        self._clock = clock
        self._failures = failures
        self._probe_seconds = probe
        self._broken: dict[Hashable, _Circuit] = {}

    @property
    def open(self) -> int:
        """How many destinations are asked once an interval only."""
        return sum(each.failures >= self._failures for each in self._broken.values())

    def may(self, name: Hashable) -> bool:
        """Whether a destination is to be asked now; where it is open, this one is its probe."""
        circuit = self._broken.get(name)
        if circuit is None or circuit.failures < self._failures:
            return True
        if self._clock() < circuit.probe_at:
            return False
        circuit.probe_at = self._clock() + self._probe_seconds
        return True

    def failed(self, name: Hashable) -> None:
        """Note that a destination did not do what it was asked."""
        circuit = self._broken.setdefault(name, _Circuit())
        circuit.failures += 1
        circuit.probe_at = self._clock() + self._probe_seconds

    def succeeded(self, name: Hashable) -> None:
        """Note that it did, or is no more."""
        self._broken.pop(name, None)
