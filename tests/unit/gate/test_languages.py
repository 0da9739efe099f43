"""Walls and error pages are known in the languages of the web."""

import pytest

from services.workers.gate.judge import Page, judge
from tests.unit.gate.languages import SAID, page


@pytest.mark.parametrize(("verdict", "language"), [(verdict, one) for verdict, said in SAID.items() for one in said])
def test_a_page_is_refused_by_its_rule_in_every_language(verdict: str, language: str) -> None:
    found = judge(Page(200, "text/html", page(verdict, language).encode()))
    assert found is not None
    assert found.rule == verdict, found
