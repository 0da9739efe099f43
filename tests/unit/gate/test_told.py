"""Walls and errors in other words and languages are known, within the frame of a shop too, and good pages pass."""

import pytest

from services.workers.gate.judge import Page, judge
from tests.unit.gate.told_errors import ERRORS
from tests.unit.gate.told_good import GOOD
from tests.unit.gate.told_refusals import REFUSALS

PAGES = REFUSALS | ERRORS | GOOD
AROUND = {
    "{nav}": "<nav>" + "".join(f'<a href="/c{number}">Category {number}</a> ' for number in range(25)) + "</nav>",
    "{foot}": "<footer><p>Free delivery over 50. Returns within 30 days. Our customer service is here for you from "
    "Monday to Friday between 9 and 17.</p><a href=/imprint>Imprint</a><a href=/privacy>Privacy policy</a></footer>",
    "{article}": "<p>What the council decided about the new bridge, what it costs, who opposed it and how long the "
    "works in the old town are going to take, as far as anybody knows today.</p>" * 14,
}


def test_no_page_is_lost_by_its_name() -> None:
    assert len(PAGES) == len(REFUSALS) + len(ERRORS) + len(GOOD)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_judged_by_what_it_says(name: str) -> None:
    expected, page = PAGES[name]
    for place, text in AROUND.items():
        page = page.replace(place, text)
    found = judge(Page(200, "text/html; charset=utf-8", page.encode()))
    assert (found.rule if found else "good") == expected, found
