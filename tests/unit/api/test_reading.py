"""Bytes to typed values."""

import contextlib
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api import requests
from api.errors import Problem
from api.reading import json_object, typed
from services.ledger.status import Status


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_a_problem(data: bytes) -> None:
    with contextlib.suppress(Problem):
        assert isinstance(json_object(data), dict)


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"urls": ["https://a.example", 7]}, "urls[1]"),
        ({"url": "https://a.example", "metadata": 7}, "metadata"),
        ({"url": "https://a.example", "colour": 7}, "colour"),
        ({"url": "https://a.example", "workflow_id": "w"}, "workflow_id"),
    ],
)
def test_the_field_at_fault_is_named_by_its_path(value: dict[str, object], field: str) -> None:
    with pytest.raises(Problem) as caught:
        typed(value, requests.SubmitJobs)
    assert caught.value.body["field"] == field


def test_a_missing_field_is_named() -> None:
    with pytest.raises(Problem) as caught:
        typed({}, requests.RegisterOrg)
    assert caught.value.body["field"] == "name"


def test_the_path_of_unusable_text_is_named() -> None:
    for data in (b'{"input": {"a": ["x", "\\u0000"]}}', b'{"input": {"a": ["x", "\\ud83d"]}}'):
        with pytest.raises(Problem) as caught:
            json_object(data)
        assert (caught.value.code, caught.value.body["field"]) == ("unusable_text", "input.a[1]")


def test_the_states_to_list_by_are_those_of_the_ledger() -> None:
    assert get_args(requests.Status) == tuple(Status)
