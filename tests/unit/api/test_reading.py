"""Bytes to typed values."""

import contextlib
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from multidict import MultiDict

from api import org_requests, requests, schedule_requests
from api.errors import MAX_PROBLEMS, Gathering, Problem, invalid, together
from api.reading import json_object, query_of, typed
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


def problems_of(value: dict[str, object], shape: type, *, strict: bool = True) -> list[str]:
    with pytest.raises(Problem) as caught:
        typed(value, shape, strict=strict)
    assert caught.value.body["field"] == caught.value.body["problems"][0]["field"]
    assert all(each["message"] for each in caught.value.body["problems"])
    return [each["field"] for each in caught.value.body["problems"]]


def test_every_field_at_fault_is_named_at_once() -> None:
    value: dict[str, object] = {"urls": [1, "https://a.example", 2], "colour": 1, "priority": "high", "input": []}
    assert problems_of(value, requests.SubmitJobs) == ["urls[0]", "urls[2]", "colour", "priority", "input"]
    assert problems_of({"plan": "A B", "maxInFlight": 0}, requests.RegisterOrg) == ["plan", "maxInFlight", "name"]
    query: dict[str, object] = {"limit": "many", "status": ["done", "failed"], "colour": "red", "createdAfter": "today"}
    assert problems_of(query, requests.ListJobs, strict=False) == ["limit", "status", "colour", "createdAfter"]
    assert len(problems_of({"jobIds": [1] * 1000}, requests.BatchStatus)) == MAX_PROBLEMS


def test_every_field_at_fault_within_objects_is_named_at_once() -> None:
    work = {"urls": ["https://a.example", 7], "priority": 101, "colour": "red"}
    schedule: dict[str, object] = {"cron": 7, "work": work, "tags": ["!", "daily"], "missed": "twice"}
    found = ["cron", "work.urls[1]", "work.priority", "work.colour", "tags[0]", "missed", "name"]
    assert problems_of(schedule, schedule_requests.SaveSchedule) == found
    wanted: dict[str, object] = {"tagFilter": {"any": ["a", "!"], "some": [], "none": "x"}}
    assert problems_of(wanted, schedule_requests.ByTags) == ["tagFilter.any[1]", "tagFilter.some", "tagFilter.none"]


def test_what_is_of_its_type_and_wrong_all_the_same_is_named_beside_what_is_not() -> None:
    def more(sound: dict[str, Any]) -> Iterator[Problem]:
        assert sound.pop("timezone") is sound["work"].pop("priority") is UNSET
        assert sound == {"cron": "61 * * * *", "work": {"url": "ftp://a.example"}}
        yield invalid("cron", "there is no minute 61")

    given = {"cron": "61 * * * *", "timezone": 7, "work": {"url": "ftp://a.example", "priority": "high"}}
    with pytest.raises(Problem) as caught:
        typed(given, schedule_requests.SaveSchedule, more=more)
    assert [each["field"] for each in caught.value.body["problems"]] == ["timezone", "work.priority", "name", "cron"]


def test_problems_within_an_object_have_its_path_and_those_of_several_things_come_together() -> None:
    gathering = Gathering()
    for field in ("url", "input"):
        with gathering.looking():
            raise invalid(field, "x")
    with gathering.looking():
        pass
    with pytest.raises(Problem) as caught:
        gathering.done()
    both = caught.value.within("work")
    assert both.body["field"] == "work.url"
    assert [each["field"] for each in both.body["problems"]] == ["work.url", "work.input"]
    every = together([invalid("name", "x"), both])
    assert [each["field"] for each in every.body["problems"]] == ["name", "work.url", "work.input"]


def test_a_whole_number_may_be_written_with_a_point() -> None:
    job = {"url": "https://a.example", "priority": 7.0, "input": {"price": 3.0}}
    read = typed(job, requests.SubmitJobs)
    assert (read.priority, type(read.priority)) == (7, int)
    assert isinstance((read.input or {})["price"], float), "what is the caller's own stays as it is"
    schedule = typed({"name": "n", "cron": "0 6 * * *", "work": job}, schedule_requests.SaveSchedule)
    assert schedule.work.priority == 7
    assert typed({"maxInFlight": 5.0, "maxPending": None}, org_requests.ChangeOrg).max_in_flight == 5
    for wrong in (7.5, 1e300, "7", True):
        with pytest.raises(Problem, match="int"):
            typed({**job, "priority": wrong}, requests.SubmitJobs)


def test_only_what_takes_a_list_comes_several_times_in_a_query() -> None:
    given = MultiDict([("status", "failed"), ("limit", "7"), ("status", "lost")])
    assert query_of(given, requests.ListJobs) == {"status": ["failed", "lost"], "limit": "7"}
    with pytest.raises(Problem) as caught:
        query_of(MultiDict([("limit", "1"), ("limit", "2"), ("order", "newest"), ("order", "x")]), requests.ListJobs)
    assert [each["field"] for each in caught.value.body["problems"]] == ["limit", "order"]


def test_the_path_of_unusable_text_is_named() -> None:
    for data in (b'{"input": {"a": ["x", "\\u0000"]}}', b'{"input": {"a": ["x", "\\ud83d"]}}'):
        with pytest.raises(Problem) as caught:
            json_object(data)
        assert (caught.value.code, caught.value.body["field"]) == ("unusable_text", "input.a[1]")


def test_the_states_to_list_by_are_those_of_the_ledger() -> None:
    assert get_args(requests.Status) == tuple(Status)
