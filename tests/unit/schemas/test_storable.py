"""Text that every store takes."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.storable import MAX_DEPTH, counted, is_storable, storable, storable_text

ANY_TEXT = st.text(st.characters() | st.sampled_from("\0\ud800\udfff\ufffd"))
ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
)


def texts_of(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case list():
            return [text for item in value for text in texts_of(item)]
        case dict():
            return [text for name, item in value.items() for text in (name, *texts_of(item))]
        case _:
            return []


@pytest.mark.parametrize(
    ("text", "stored", "replaced"),
    [
        ("a\0b", "a\ufffdb", 1),
        ("\ud800", "\ufffd", 1),
        ("\udc00\0", "\ufffd\ufffd", 2),
        ("\U0001f600", "\U0001f600", 0),
        (r"\u0000", r"\u0000", 0),
        (r"\ud800", r"\ud800", 0),
        ("\ufffd", "\ufffd", 0),
        ("", "", 0),
    ],
)
def test_what_no_store_takes_is_replaced_and_counted_and_all_else_stays(text: str, stored: str, replaced: int) -> None:
    assert counted(text) == (stored, replaced)
    assert storable_text(text) == stored
    assert is_storable(text) is (replaced == 0)


def test_names_of_members_are_replaced_and_no_member_gets_lost() -> None:
    value = json.loads(r'{"\u0000": 1, "\ud800": 2, "\ufffd": 3, "a": [{"b\u0000": "\u0000"}]}')
    assert counted(value) == (
        {"\ufffd\ufffd": 1, "\ufffd\ufffd\ufffd": 2, "\ufffd": 3, "a": [{"b\ufffd": "\ufffd"}]},
        4,
    )


def test_what_is_nested_without_end_is_cut() -> None:
    value: Any = "deep"
    for _ in range(100_000):
        value = [value]
    levels, value = 0, storable(value)
    while value:
        levels, value = levels + 1, value[0]
    assert levels == MAX_DEPTH


@given(ANY_JSON)
def test_any_json_becomes_storable_once_and_for_all_with_as_many_texts(value: Any) -> None:
    stored, replaced = counted(value)
    msgspec.json.encode(stored)
    assert len(texts_of(stored)) == len(texts_of(value))
    assert all(map(is_storable, texts_of(stored)))
    assert counted(stored) == (stored, 0)
    assert (stored == value) is (replaced == 0)
