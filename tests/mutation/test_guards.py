"""Whether every guard still stands where guards.toml takes it out: the long run is `python -m tests.mutation`."""

import tomllib
from typing import Any

import pytest

from tests.mutation.__main__ import GUARDS, ROOT, mutated

GUARD_LIST: list[dict[str, Any]] = tomllib.loads(GUARDS.read_text())["guard"]


@pytest.mark.parametrize("guard", GUARD_LIST, ids=lambda guard: guard["name"])
def test_a_guard_stands_where_it_is_taken_out(guard: dict[str, Any]) -> None:
    before = (ROOT / guard["file"]).read_text()
    assert mutated(before, guard) != before


def test_there_are_at_least_twenty_guards() -> None:
    assert len({guard["name"] for guard in GUARD_LIST}) >= 20
