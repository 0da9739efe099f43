"""Following a job from the command line, against a small API that breaks off as a test tells it to."""

from collections.abc import Awaitable, Callable

import msgspec
import pytest
from aiohttp import web

from services.cli import following
from services.cli.errors import ApiRefused, ApiSilent
from services.cli.following import Sent, follow
from tests.unit.cli.test_client import api

SNAPSHOT = Sent("snapshot", "0:5", {"status": "pending"})
CLAIMED = Sent("event", "0:7", {"status": "running"})
DONE = Sent("done", "0:9", {"status": "completed"})
STOPPED = Sent("close", "", {"reason": "shutdown", "reconnect": True})
DELETED = Sent("close", "", {"reason": "deleted", "reconnect": False})
Step = tuple[Sent, ...] | int


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "PAUSE_SECONDS", 0.0)


def streaming(*steps: Step) -> tuple[Callable[[web.Request], Awaitable[web.StreamResponse]], list[str | None]]:
    """Answer each connection with the next step: some events, then the end of the connection; or a status."""
    asked: list[str | None] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        asked.append(request.headers.get("Last-Event-ID"))
        step = steps[len(asked) - 1]
        if isinstance(step, int):
            return web.json_response({"error": "not_found", "message": "there is no such job"}, status=step)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"retry: 1000\n\n: keepalive\n\n")
        for sent in step:
            place = f"id: {sent.id}\n" if sent.id else ""
            data = msgspec.json.encode(sent.data).decode()
            await response.write(f"{place}event: {sent.event}\ndata: {data}\n\n".encode())
        return response

    return handler, asked


async def followed(*steps: Step, patience_seconds: float = 60) -> tuple[list[Sent], list[str | None]]:
    """Follow such an API to the end."""
    handler, asked = streaming(*steps)
    async with api(handler) as url:
        return [sent async for sent in follow(url, "jlk_a_b", "job-1", patience_seconds)], asked


async def test_it_goes_on_behind_the_last_event_until_the_job_has_ended() -> None:
    sent, asked = await followed((SNAPSHOT,), (CLAIMED, STOPPED), 503, (DONE,))
    assert [each.id for each in sent if each.id] == ["0:5", "0:7", "0:9"]
    assert asked == [None, "0:5", "0:7", "0:7"]


async def test_a_job_that_had_ended_sends_nothing() -> None:
    assert await followed(204) == ([], [None])


async def test_it_does_not_come_back_where_it_is_told_not_to() -> None:
    sent, asked = await followed((SNAPSHOT, DELETED))
    assert (sent[-1], len(asked)) == (DELETED, 1)


async def test_a_refusal_ends_it() -> None:
    with pytest.raises(ApiRefused, match="no such job"):
        await followed(404)


async def test_an_api_that_streams_nothing_for_long_is_given_up_on() -> None:
    with pytest.raises(ApiSilent, match="status 503"):
        await followed(503, patience_seconds=0)
