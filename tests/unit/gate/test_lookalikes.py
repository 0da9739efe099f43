"""Walls in the markup of vendors and servers are known, and good pages that use their words pass."""

import pytest

from services.workers.gate.judge import Page, judge
from tests.unit.gate.lookalike_good import GOOD
from tests.unit.gate.lookalike_walls import WALLS


@pytest.mark.parametrize("name", WALLS)
def test_a_wall_is_refused_by_its_rule(name: str) -> None:
    verdict, page = WALLS[name]
    found = judge(Page(200, "text/html", page.encode()))
    assert found is not None
    assert found.rule == verdict, found


@pytest.mark.parametrize("name", GOOD)
def test_a_good_page_that_uses_the_words_of_walls_passes(name: str) -> None:
    assert judge(Page(200, "text/html", GOOD[name].encode())) is None
