"""The client against a small API that answers what a test tells it to."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import unquote

import pytest
from aiohttp import web

from services.cli.client import Client
from services.cli.errors import ApiRefused, ApiSilent

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
SUBMITTED = {"jobs": [{"jobId": "job-1", "status": "pending"}]}


@asynccontextmanager
async def api(handler: Handler) -> AsyncIterator[str]:
    """Serve every path with one handler and lend the base URL."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def cannot_now() -> web.Response:
    """Answer as an API without a decider does, to be asked again at once."""
    body = {"error": "ledger_unavailable", "message": "no decider answered in time"}
    return web.json_response(body, status=503, headers={"Retry-After": "0"})


async def test_a_submission_that_got_503_is_repeated_with_the_same_idempotency_key() -> None:
    keys: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        keys.append(request.headers["Idempotency-Key"])
        return cannot_now() if len(keys) < 3 else web.json_response(SUBMITTED, status=201)

    async with api(handler) as url, Client(url, "jlk_a_b") as client:
        assert await client.submit(["https://shop.example/1"]) == ["job-1"]
    assert len(keys) == 3
    assert len(set(keys)) == 1


async def test_two_submissions_have_different_idempotency_keys_and_the_callers_own_is_kept() -> None:
    keys: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        keys.append(request.headers["Idempotency-Key"])
        return web.json_response(SUBMITTED, status=201)

    async with api(handler) as url, Client(url, "jlk_a_b") as client:
        for key in ("", "", "mine"):
            await client.submit(["https://shop.example/1"], idempotency_key=key)
    assert len(set(keys)) == 3
    assert keys[2] == "mine"


async def test_a_cancel_that_got_503_is_repeated_with_its_key_and_the_next_one_has_another() -> None:
    keys: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        keys.append(request.headers["Idempotency-Key"])
        done = {"jobId": "job-1", "accepted": True}
        return cannot_now() if len(keys) == 1 else web.json_response(done, status=202)

    async with api(handler) as url, Client(url, "jlk_a_b") as client:
        await client.cancel("job-1")
        await client.cancel("job-1")
    assert keys[0] == keys[1] != keys[2]


async def test_an_answer_that_repeating_does_not_change_is_not_asked_for_again() -> None:
    calls = 0

    async def handler(_request: web.Request) -> web.Response:
        nonlocal calls
        calls += 1
        return web.json_response({"error": "unauthenticated", "message": "this key is unknown"}, status=401)

    async with api(handler) as url, Client(url, "jlk_a_b") as client:
        with pytest.raises(ApiRefused, match="set JOBLEDGER_KEY") as refused:
            await client.job("job-1")
    assert (calls, refused.value.code, refused.value.status) == (1, "unauthenticated", 401)


async def test_a_refusal_names_the_field_at_fault() -> None:
    async def handler(_request: web.Request) -> web.Response:
        body = {"error": "invalid_field", "message": "not a url", "field": "urls[0]"}
        return web.json_response(body, status=422)

    async with api(handler) as url, Client(url, "jlk_a_b") as client:
        with pytest.raises(ApiRefused, match=r"urls\[0\]: not a url"):
            await client.submit(["nonsense"])


async def test_an_api_that_cannot_answer_for_long_is_given_up_on() -> None:
    async def handler(_request: web.Request) -> web.Response:
        return cannot_now()

    async with api(handler) as url, Client(url, "jlk_a_b", patience_seconds=0) as client:
        with pytest.raises(ApiSilent, match="no decider answered"):
            await client.job("job-1")


async def test_a_prompt_caller_hears_in_time_of_a_call_that_stays_open_after_one_that_got_503() -> None:
    calls, over = 0, asyncio.Event()

    async def handler(_request: web.Request) -> web.Response:
        nonlocal calls
        calls += 1
        if calls > 1:
            await over.wait()
        return cannot_now()

    async with api(handler) as url, Client(url, "jlk_a_b", within_seconds=2.0) as client:
        with pytest.raises(ApiSilent, match=r"within 2 s.*can be asked again"):
            await client.cancel("job-1")
        over.set()
    assert calls == 2


async def test_where_nobody_listens_the_error_names_the_address_and_what_to_do() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, but nobody listens
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        async with Client(url, "jlk_a_b", patience_seconds=0) as client:
            with pytest.raises(ApiSilent, match=f"{url}.*jobledger status"):
                await client.job("job-1")


async def test_what_is_no_answer_of_ours_is_told_as_such() -> None:
    async def handler(_request: web.Request) -> web.Response:
        return web.Response(status=404, text="<html>nothing here</html>")

    async with api(handler) as url, Client(url, "jlk_a_b") as client:
        with pytest.raises(ApiRefused, match="is JOBLEDGER_API right"):
            await client.job("job-1")


async def test_statuses_of_many_jobs_are_asked_for_in_calls_of_bounded_size() -> None:
    sizes: list[int] = []

    async def handler(request: web.Request) -> web.Response:
        asked = (await request.json())["jobIds"]
        sizes.append(len(asked))
        return web.json_response({"jobs": [{"jobId": each, "status": "pending"} for each in asked], "unknown": []})

    async with api(handler) as url, Client(url, "jlk_a_b") as client:
        found = await client.statuses([f"job-{number}" for number in range(2500)])
    assert sizes == [1000, 1000, 500]
    assert len(found) == 2500


async def test_an_extraction_that_is_not_there_yet_is_none() -> None:
    async def handler(request: web.Request) -> web.Response:
        status = int(request.path.rpartition("-")[2])
        return web.json_response({"error": "not_found", "message": "no"}, status=status)

    async with api(handler) as url, Client(url, "jlk_a_b") as client:
        assert await client.extraction("job-202") is None
        assert await client.extraction("job-404") is None


@pytest.mark.parametrize("typed", ["../schedules/daily", "a/b", "a?b=c", "a%2Fb", "a#b"])
async def test_an_id_is_one_segment_of_a_path_whatever_is_typed(typed: str) -> None:
    called: list[tuple[str, str]] = []

    async def handler(request: web.Request) -> web.Response:
        called.append((request.method, request.raw_path))
        return web.json_response({"error": "not_found", "message": "no such job"}, status=404)

    async with api(handler) as url, Client(url, "jlk_a_b") as client:
        with pytest.raises(ApiRefused, match="no such job"):
            await client.delete(typed)
    [(method, path)] = called
    assert (method, path.count("/"), unquote(path)) == ("DELETE", 4, f"/api/v1/jobs/{typed}")
