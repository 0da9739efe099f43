"""What becomes of a message at endpoints of every sort, over real sockets."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from standardwebhooks.webhooks import Webhook

from schemas.private import private_json
from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from tests.eventually import eventually
from tests.receiver import Got, receiving
from tests.unit.webhook.fakes import SETTINGS, Desk, desk, hook


async def answered(at: Desk, sent: Delivery) -> DeliveryResult:
    """Have one delivery sent and return what the ledger was told."""
    before = len(at.results())
    await at.take(sent)
    await eventually(lambda: len(at.results()) > before)
    return at.results()[-1]


async def test_a_message_arrives_signed_with_the_secret_of_its_endpoint() -> None:
    async with receiving() as receiver, desk() as at:
        endpoint = at.endpoints.add("wh-1", f"{receiver.url}/hook?token=kept")
        at.blobs.blobs["e"] = b'{"normalized":{"name":"Lamp \xf0\x9f\x92\xa1"}}'
        result = await answered(at, hook(extraction_ref="e"))
        assert (result.error_type, result.rows) == ("", 1)
        [got] = receiver.got["/hook"]
        verified = Webhook(endpoint.secrets[0]).verify(got.body, dict(got.headers))
        assert verified["data"]["extraction"] == {"name": "Lamp \U0001f4a1"}


async def test_after_an_error_and_a_timeout_behind_the_receivers_commit_id_and_bytes_are_the_same() -> None:
    async with receiving() as receiver, desk(replace(SETTINGS, webhook_timeout_seconds=1.0)) as at:
        secret = at.endpoints.add("wh-1", f"{receiver.url}/").secrets[0]
        at.blobs.blobs["e"] = b'{"normalized":{"price":0.1}}'
        steps = iter(("fails", "stores and hangs", "takes it"))

        async def answer(_got: Got) -> web.Response:
            match next(steps):
                case "fails":
                    return web.Response(status=500)
                case "stores and hangs":
                    await asyncio.Event().wait()
            return web.Response(status=204)

        receiver.answers["/"] = answer
        kinds = [(await answered(at, hook(extraction_ref="e", try_number=number))).error_type for number in (1, 2, 3)]
        assert kinds == ["http_500", "timeout", ""]
        tries = receiver.got["/"]
        assert len({got.message_id for got in tries}) == len({got.body for got in tries}) == 1
        for got in tries:
            Webhook(secret).verify(got.body, dict(got.headers))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_a_failure_and_is_not_followed(status: int) -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/")
        receiver.says("/", status, Location="/inside")
        result = await answered(at, hook())
        assert (result.error_type, result.retryable) == ("redirect", True)
        assert receiver.got["/inside"] == []


async def test_behind_a_410_nothing_is_sent_until_the_endpoint_has_another_version() -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/")
        receiver.says("/", 410)
        gone = await answered(at, hook(1))
        assert (gone.error_type, gone.retryable, gone.closed) == ("gone", False, True)
        kept = await answered(at, hook(2))
        assert (kept.error_type, kept.retryable, kept.closed, kept.endpoint_version) == ("gone", False, True, 1)
        assert len(receiver.got["/"]) == 1
        at.endpoints.endpoints["org-1", "wh-1"] = replace(at.endpoints.endpoints["org-1", "wh-1"], version=2)
        receiver.says("/", 200)
        assert (await answered(at, hook(3))).error_type == ""


async def test_of_a_disabled_endpoint_what_still_waits_is_closed_without_a_call() -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/", enabled=False)
        closed = await answered(at, hook(2))
        assert (closed.error_type, closed.retryable, closed.closed) == ("endpoint_closed", False, True)
        assert not receiver.got


@pytest.mark.parametrize("status", [429, 503])
async def test_an_endpoint_that_asks_for_time_is_given_it(status: int) -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/")
        receiver.says("/", status, Retry_After="120")
        result = await answered(at, hook())
        assert (result.error_type, result.retryable, result.retry_after_ms) == (f"http_{status}", True, 120_000)


@pytest.mark.parametrize("status", [400, 401, 404, 500, 502])
async def test_every_other_answer_but_success_is_tried_again_by_the_ledgers_schedule(status: int) -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/")
        receiver.says("/", status)
        result = await answered(at, hook())
        assert (result.error_type, result.retryable, result.retry_after_ms) == (f"http_{status}", True, 0)


async def test_nobody_listening_is_tried_again_and_the_message_names_no_url() -> None:
    async with receiving() as receiver:
        url = f"{receiver.url}/secret-path?token=secret"
    async with desk() as at:
        at.endpoints.add("wh-1", url)
        result = await answered(at, hook())
        assert (result.error_type, result.retryable) == ("connection", True)
        assert b"secret" not in result.private


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "0x7f000001", "2130706433", "[::ffff:10.0.0.1]", "[::1]", "169.254.169.254", "10.0.0.1"],
)
async def test_no_address_of_ours_is_connected_to_however_it_is_spelled(host: str) -> None:
    async with receiving() as receiver, desk(replace(SETTINGS, allowed_networks=())) as at:
        at.endpoints.add("wh-1", f"http://{host}:{receiver.url.rpartition(':')[2]}/")
        result = await answered(at, hook())
        assert result.error_type == ("bad_url" if host.isdigit() else "address_refused")  # aiohttp takes no bare number
        assert not result.retryable
        assert not receiver.got


async def test_the_metadata_address_is_refused_even_where_private_ones_are_allowed() -> None:
    async with desk() as at:
        at.endpoints.add("wh-1", "http://169.254.169.254/latest/meta-data")
        assert (await answered(at, hook())).error_type == "address_refused"


async def test_the_ledger_hears_nothing_of_what_an_endpoint_answered() -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/")

        async def answer(_got: Got) -> web.Response:
            return web.Response(status=500, text="inner-secret", reason="inner-secret")

        receiver.answers["/"] = answer
        result = await answered(at, hook())
        assert json.loads(private_json(result.private) or b"") == {"message": "HTTP 500"}


@pytest.mark.parametrize("bad", [{"extraction_ref": "junk"}, {"extraction_ref": "../e"}, {"extracted_at": 2**62}])
async def test_a_delivery_that_cannot_be_said_is_refused_and_the_writer_goes_on(bad: dict[str, Any]) -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-1", f"{receiver.url}/")
        at.blobs.blobs["junk"] = b"{"
        refused = await answered(at, hook(1, **bad))
        assert refused.error_type in ("extraction_missing", "extraction_unreadable")
        assert not refused.retryable
        assert (await answered(at, hook(2))).error_type == ""


async def test_while_one_endpoint_hangs_all_others_get_everything() -> None:
    fast, calls = 19, 20
    async with receiving() as receiver, desk() as at:
        for number in range(fast):
            at.endpoints.add(f"wh-{number}", f"{receiver.url}/fast-{number}")
        at.endpoints.add("wh-slow", f"{receiver.url}/slow")
        receiver.hangs("/slow")
        for number in range(calls):
            await at.take(
                *(hook(number * 100 + other, "wh-slow") for other in range(20)),
                *(hook(number, f"wh-{other}") for other in range(fast)),
            )
        await eventually(lambda: len(at.results(error_type="")) == fast * calls, 50)
        assert len(receiver.got["/slow"]) == SETTINGS.webhook_calls
