"""What the result and the extraction of a job are answered as in each state: only completed ones have a result."""

from types import SimpleNamespace
from typing import Any

import pytest

from api.auth import Caller
from api.errors import Problem
from api.operation import Call
from api.routes import results
from services.ledger.status import Status
from services.runtime.ids import uuid7

JOB = uuid7()
WITHOUT = [status for status in Status if status is not Status.COMPLETED]
PAGE = b"<html>"


def asked(status: Status | None) -> Call:
    """A call about a job in some state whose body is stored, and whose row is not there (yet)."""

    class Jobs:
        async def head(self, *_: object) -> Any:
            row = SimpleNamespace(status=status, result_ref="r", content_type="text/html", expired_at=None)
            row.vocabulary = "workflow"
            return status and row

        async def statuses(self, *_: object) -> dict[str, str]:
            return {JOB: status} if status else {}

        async def extraction(self, *_: object) -> None:
            return None

        async def expired_at(self, *_: object) -> None:
            return None

    class Blobs:
        async def get(self, _ref: str) -> bytes:
            return PAGE

    parts: Any = SimpleNamespace(jobs=Jobs(), blobs=Blobs())
    request: Any = SimpleNamespace(match_info={"job_id": JOB})
    return Call(request, parts, Caller("api:1", "acme"), None, None, "r")


@pytest.mark.parametrize("status", WITHOUT)
async def test_without_completion_there_is_no_result_and_409_names_the_state_though_a_body_is_stored(
    status: Status,
) -> None:
    with pytest.raises(Problem) as caught:
        await results.body(asked(status))
    assert (caught.value.status, caught.value.code, caught.value.body["status"]) == (409, "not_ready", status)


async def test_a_completed_job_has_its_body() -> None:
    answer: Any = await results.body(asked(Status.COMPLETED))
    assert (answer.status, answer.body, answer.headers["Content-Type"]) == (200, PAGE, "text/html")


@pytest.mark.parametrize("status", Status)
async def test_without_a_row_an_extraction_is_on_its_way_in_extraction_done_and_404_in_every_other_state(
    status: Status,
) -> None:
    if status is Status.EXTRACTION_DONE:
        waits: Any = await results.extraction(asked(status))
        assert (waits.status, waits.headers["Retry-After"]) == (202, "1")
        return
    with pytest.raises(Problem) as caught:
        await results.extraction(asked(status))
    assert (caught.value.status, caught.value.body["status"]) == (404, status)


@pytest.mark.parametrize("call", [results.body, results.extraction])
async def test_of_a_job_that_is_none_there_is_neither(call: Any) -> None:
    with pytest.raises(Problem) as caught:
        await call(asked(None))
    assert (caught.value.status, "status" in caught.value.body) == (404, False)
