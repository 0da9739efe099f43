"""The simulation in the test suite: some fixed seeds, some new ones, and that a seed is one history and no other."""

import os
import subprocess
import sys
import weakref
from random import SystemRandom

import pytest

from tests.simulation import run
from tests.simulation.run import simulate
from tests.simulation.world import World

FIXED = 60
NEW = 8
AGAIN = """
import sys
from tests.simulation.run import simulate
digests = {seed: simulate(int(seed)).digest for seed in sys.argv[1:]}
print(*(digests[seed] for seed in sorted(digests)))
"""


@pytest.mark.parametrize("first", range(0, FIXED, 10))
def test_nothing_is_wrong_after_any_of_ten_fixed_storms(first: int) -> None:
    wrong = {seed: result.wrong for seed in range(first, first + 10) if (result := simulate(seed)).wrong}
    assert wrong == {}, "see python -m tests.simulation --seed N"


def test_nothing_is_wrong_after_storms_that_nobody_has_seen() -> None:
    seeds = [SystemRandom().randrange(10_000, 1_000_000_000) for _ in range(NEW)]
    wrong = {seed: result.wrong for seed in seeds if (result := simulate(seed)).wrong}
    assert wrong == {}, "see python -m tests.simulation --seed N"


def test_a_seed_gives_the_same_log_in_every_process_and_after_any_others_to_the_last_byte() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", AGAIN, *seeds],
            env=os.environ | {"PYTHONHASHSEED": salt},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        ).stdout
        for salt, seeds in (("1", ("0", "7", "19")), ("2", ("19", "0", "7")))
    }
    assert len(told) == 1
    assert len(set(told.pop().split())) == 3


def test_nothing_of_a_seed_stays_in_memory_once_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of hundreds of seeds in one process has one world at a time."""
    worlds: list[weakref.ref[World]] = []

    class Seen(World):
        def __init__(self, *given: object) -> None:
            super().__init__(*given)  # type: ignore[arg-type]
            worlds.append(weakref.ref(self))

    monkeypatch.setattr(run, "World", Seen)
    for seed in (1, 5):
        simulate(seed)
    assert [world() for world in worlds] == [None, None]
