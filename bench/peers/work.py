"""The kinds of work that the ledger is measured with, as its figures name them."""

from dataclasses import dataclass

from bench.peers.steps_worker import TOLD_APART, TOLD_TOGETHER

ONE, APART, TOGETHER = "one step", "four steps, each told before the next", "four steps, told together"
FEW = 2  # partitions: as many as this kind of machine has cores; a ledger is shipped with more, to grow into


@dataclass(frozen=True, slots=True)
class Work:
    """So many steps, and how a worker tells them."""

    name: str
    steps: int
    told: str


WORKS = (Work(ONE, 1, TOLD_TOGETHER), Work(APART, 4, TOLD_APART), Work(TOGETHER, 4, TOLD_TOGETHER))
ON_FEW = WORKS[:2]


def on_few(name: str) -> str:
    """Return the name of a kind of work on FEW partitions."""
    return f"{name}, {FEW} partitions"
