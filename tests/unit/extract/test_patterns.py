"""What the patterns of a page may cost: each match is cheap, all of them need not be."""

from services.ledger.workflow import Field
from services.workers.extract.patterns import Budget
from services.workers.extract.view import Scope, View

FAR = "a.*b|a"  # looks through the rest of the text for each match
LIST = Field(name="x", selector="regex", query=FAR, type="list")


def test_matches_that_take_too_long_together_are_given_up_and_told_once() -> None:
    view = View("a" * 100_000, budget=Budget(0.02))
    for _ in range(2):
        assert Scope(view).raw(LIST) is None
    [(code, message)] = view.faults
    assert code == "too_large"
    assert FAR in message


def test_a_pattern_that_is_quickly_done_finds_all_of_its_places() -> None:
    view = View("a1 a2 b a3")
    assert Scope(view).raw(Field(name="x", selector="regex", query=r"a(\d)", type="list")) == ["1", "2", "3"]
    assert Scope(view).raw(Field(name="x", selector="regex", query=r"a(\d)")) == ["1"]
    assert view.faults == []
