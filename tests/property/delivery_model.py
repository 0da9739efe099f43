"""A small model of one delivery, written from docs/timers.md and docs/state_machine.md: when it is looked at again."""

from dataclasses import dataclass
from typing import Literal

from schemas.values import Destination

SECOND = 1_000_000
TRIES = 3  # of one delivery, a second apart
UNANSWERED = 30 * SECOND  # then it is sent again, and then after twice as long each time
LONGEST_UNANSWERED = 600 * SECOND


@dataclass(slots=True)
class Asked:
    """The delivery of a job to one destination. Times are microseconds UTC."""

    destination: Destination
    asked_at: int
    sent_at: int
    state: Literal["out", "waiting", "acked", "over"] = "out"  # over: given up or waived
    generation: int = 1
    sent: int = 1  # times
    failures: int = 0
    next_try_at: int = 0
    opened: bool = False  # its part of the gate

    @property
    def under_way(self) -> bool:
        """Whether something is still to come of it."""
        return self.state in ("out", "waiting")

    @property
    def deadline(self) -> int:
        """Until when a job waits for it."""
        return self.asked_at + self.destination.gate_seconds * SECOND

    @property
    def sent_again_at(self) -> int:
        """When it goes out again by itself; 0: not."""
        if self.state == "out":
            return self.sent_at + int(min(UNANSWERED << (self.sent - 1), LONGEST_UNANSWERED))
        return self.next_try_at if self.state == "waiting" else 0

    def fail(self, now: int) -> bool:
        """The try that is out fails; return whether it was the last one."""
        self.failures += 1
        self.state, self.next_try_at = "waiting", now + SECOND
        return self.failures == TRIES

    def send_again(self, now: int) -> None:
        """It goes out once more."""
        self.state, self.sent_at, self.sent = "out", now, self.sent + 1
