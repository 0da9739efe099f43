"""The simulation in the test suite: some fixed seeds, some new ones, and that a seed is one history and no other."""

import os
import subprocess
import sys
from random import SystemRandom

import pytest

from tests.simulation.run import simulate

FIXED = 60
NEW = 8
AGAIN = "from tests.simulation.run import simulate; print(*(simulate(seed).digest for seed in (0, 7, 19)))"


@pytest.mark.parametrize("first", range(0, FIXED, 10))
def test_nothing_is_wrong_after_any_of_ten_fixed_storms(first: int) -> None:
    wrong = {seed: result.wrong for seed in range(first, first + 10) if (result := simulate(seed)).wrong}
    assert wrong == {}, "see python -m tests.simulation --seed N"


def test_nothing_is_wrong_after_storms_that_nobody_has_seen() -> None:
    seeds = [SystemRandom().randrange(10_000, 1_000_000_000) for _ in range(NEW)]
    wrong = {seed: result.wrong for seed in seeds if (result := simulate(seed)).wrong}
    assert wrong == {}, "see python -m tests.simulation --seed N"


def test_a_seed_gives_the_same_log_in_every_process_to_the_last_byte() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", AGAIN],
            env=os.environ | {"PYTHONHASHSEED": salt},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        ).stdout
        for salt in ("1", "2")
    }
    assert len(told) == 1
    assert len(set(told.pop().split())) == 3
