"""Bytes to typed values."""

import contextlib
import re
import tracemalloc
from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from multidict import MultiDict

from api import org_requests, requests, schedule_requests
from api.errors import MAX_PROBLEMS, Gathering, Problem, invalid, together
from api.faults import MOST_PARTS, faults
from api.json_texts import MAX_DEPTH, path_of, texts
from api.reading import MAX_NESTED, json_object, query_of, typed
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


class Counted(list[object]):
    """A list that knows how many of its items were looked at one by one."""

    looked = 0

    def __iter__(self) -> Iterator[object]:
        for item in super().__iter__():
            self.looked += 1
            yield item


@pytest.mark.parametrize("item", [7, "https://a.example"])
def test_of_a_list_that_is_far_too_long_no_more_is_looked_at_than_is_told_or_may_be_sent(item: object) -> None:
    urls = Counted([item] * (20 * MOST_PARTS))
    assert len(list(faults({"urls": urls}, requests.SubmitJobs, strict=True))) == (MAX_PROBLEMS if item == 7 else 1)
    assert urls.looked == (MAX_PROBLEMS if item == 7 else MOST_PARTS)


def test_no_field_takes_a_list_that_is_longer_than_its_parts_are_looked_at() -> None:
    shapes = [each for each in vars(requests).values() if isinstance(each, type) and issubclass(each, msgspec.Struct)]
    told = str(msgspec.json.schema_components(shapes))
    assert max(map(int, re.findall(r"'maxItems': (\d+)", told))) == MOST_PARTS


@pytest.mark.parametrize("more", [b"", b', "x": "\\\\u0000"'], ids=["nothing to look for", "looked through"])
def test_a_long_list_takes_no_more_memory_to_look_through_than_to_read(more: bytes) -> None:
    data = b'{"input": {"a": [%s0]}%s}' % (b"0," * 1_000_000, more)
    tracemalloc.start()
    try:
        json_object(data)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 3 * 8_000_000, "a pointer for each number, beside those of a smaller list that it outgrew"


def test_a_body_of_more_lists_than_anybody_needs_is_not_read() -> None:
    assert json_object(b'{"a": [%s[]]}' % (b"[]," * (MAX_NESTED - 3)))
    with pytest.raises(Problem) as caught:
        json_object(b'{"a": [%s[]]}' % (b"[]," * (MAX_NESTED - 2)))
    assert (caught.value.code, caught.value.status) == ("too_large", 413)


def test_every_text_of_a_value_is_found_with_its_place() -> None:
    value = {"a": ["x", {"b": "y", "": [["z", 1], [], {}]}, None], "c": {}, "d": "w"}
    found = [(path_of(place), text) for place, text in texts(value)]
    assert found == [
        ("a", "a"), ("a[0]", "x"), ("a[1].b", "b"), ("a[1].b", "y"), ("a[1].", ""), ("a[1].[0][0]", "z"),
        ("c", "c"), ("d", "d"), ("d", "w"),
    ]  # fmt: skip


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_what_is_nested_64_levels_deep_is_read_and_no_deeper(opening: str) -> None:
    closing = {"[": "]", '{"a":': "}"}[opening]
    for levels, good in ((MAX_DEPTH - 1, True), (MAX_DEPTH, False)):
        data = f'{{"input": {opening * levels}1{closing * levels}}}'.encode()
        if good:
            assert json_object(data)
            continue
        with pytest.raises(Problem) as caught:
            json_object(data)
        assert caught.value.code == "invalid_field"
        assert caught.value.body["field"].startswith("input")


def test_the_path_of_unusable_text_is_named() -> None:
    for data in (b'{"input": {"a": ["x", "\\u0000"]}}', b'{"input": {"a": ["x", "\\ud83d"]}}'):
        with pytest.raises(Problem) as caught:
            json_object(data)
        assert (caught.value.code, caught.value.body["field"]) == ("unusable_text", "input.a[1]")


def test_the_states_to_list_by_are_those_of_the_ledger() -> None:
    assert get_args(requests.Status) == tuple(Status)
