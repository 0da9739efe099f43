"""Whose turn it is: one turn an org and round, and inside of a round whoever is helped soonest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ledger.turns import NONE_IN_FLIGHT, ONE_SLOT, RANKS, SOME_IN_FLIGHT, Turns


def served(turns: Turns, times: int, rank: int) -> list[str]:
    """Let orgs take turns that want another one at once."""
    order = []
    for _ in range(times):
        org_id = turns.first()
        assert org_id is not None
        turns.take(org_id)
        turns.put(org_id, rank)
        order.append(org_id)
    return order


def test_nobody_has_a_second_turn_before_everybody_had_one() -> None:
    turns = Turns()
    for org_id in "abcde":
        turns.put(org_id, SOME_IN_FLIGHT)
    order = served(turns, 20, SOME_IN_FLIGHT)
    assert [set(order[start : start + 5]) for start in range(0, 20, 5)] == [set("abcde")] * 4


def test_a_wish_for_one_slot_goes_before_a_queue_and_that_before_more_of_the_same() -> None:
    turns = Turns()
    turns.put("greedy", SOME_IN_FLIGHT)
    turns.put("queue", NONE_IN_FLIGHT)
    turns.put("one", ONE_SLOT)
    assert served(turns, 3, SOME_IN_FLIGHT) == ["one", "queue", "greedy"]


def test_among_equals_the_last_to_come_and_the_longest_waiting_take_turns() -> None:
    turns = Turns()
    for org_id in "abcd":
        turns.put(org_id, ONE_SLOT)
    order = []
    for new in "efgh":
        first = turns.first()
        assert first is not None
        turns.take(first)
        order.append(first)
        turns.put(new, ONE_SLOT)
    assert order == ["d", "a", "f", "b"], "two of four turns go to those that came first, whoever comes meanwhile"


def test_an_org_that_had_its_turn_waits_for_the_next_round_though_it_left_meanwhile() -> None:
    turns = Turns()
    turns.put("a", ONE_SLOT)
    turns.put("b", SOME_IN_FLIGHT)
    turns.take("a")
    turns.leave("a")
    turns.put("a", ONE_SLOT)
    assert turns.first() == "b"


def test_an_org_that_leaves_is_not_asked() -> None:
    turns = Turns()
    turns.put("a", ONE_SLOT)
    turns.leave("a")
    turns.leave("a")
    assert turns.first() is None
    assert len(turns) == 0


@pytest.mark.parametrize("kept", [True, False])
@given(st.lists(st.tuples(st.sampled_from("abcde"), st.integers(-2, RANKS - 1))))
def test_turns_that_were_written_down_go_on_as_they_would_have(kept: bool, steps: list[tuple[str, int]]) -> None:
    """Whatever came before: with -1 an org leaves, with -2 somebody takes a slot."""
    turns = Turns()
    for org_id, rank in steps:
        if rank >= 0:
            turns.put(org_id, rank)
        elif rank == -1:
            turns.leave(org_id)
        elif (first := turns.first()) is not None:
            turns.take(first)
    if not kept:
        again = Turns()
        again.restore(turns.now, turns.later, turns.had, turns.last, latest_next=turns.latest_next)
        turns = again
    waiting = list(turns)
    assert len(waiting) == len(set(waiting)) == len(turns)
    order = []
    while (first := turns.first()) is not None:
        assert first in turns
        turns.take(first)
        order.append(first)
    assert sorted(order) == sorted(waiting)
