"""Scenarios 61 to 67: what endpoints get, at which address, and what becomes of those that hang or lead inside."""

import asyncio
import json
import socket
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from aiohttp import web
from standardwebhooks.webhooks import Webhook

from api.errors import Problem
from api.urls import domain_of
from schemas.events import AnyEvent, DeliveryDeadLettered, EndpointDisabled
from schemas.values import Destination
from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.runtime.networks import LOCAL, networks_of
from services.workers.providers.direct import DirectProvider
from services.workers.providers.protocol import FetchRequest, ProviderError
from services.writers.webhook.attempts import Attempt
from services.writers.webhook.endpoints import Name
from services.writers.webhook.signing import new_secret
from tests.eventually import eventually
from tests.receiver import Got, Receiver, receiving
from tests.unit.ledger.world import POSTGRES, World, ack
from tests.unit.webhook.fakes import SETTINGS, Desk, desk, hook

SECOND = 1_000_000
DAY = 86_400
SCHEDULE = (0, 5, 300, 1800, 7200, 18_000, 36_000, 36_000)  # seconds before each try
HOOK = Destination(destination_id="wh-1", kind="webhook")
AWKWARD = {
    "emoji": "\U0001f600 \U0001f469\u200d\U0001f4bb",
    "lines": "a\u2028b\u2029c",
    "large": 1e20,
    "small": 0.1,
    "whole": 12345678901234567890,
    "path": 'a/b\\c </script> "quoted"',
    "empty": {"": [], "nested": {"a": {}, "b": [[], {}, None]}},
    "apart": "e\u0301",
}


async def answered(at: Desk, sent: Delivery) -> DeliveryResult:
    """Have one delivery sent and return what the ledger was told."""
    before = len(at.results())
    await at.take(sent)
    await eventually(lambda: len(at.results()) > before)
    return at.results()[-1]


class Noted:
    """The log of attempts, in memory."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []

    def note(self, attempt: Attempt) -> None:
        """Keep an attempt."""
        self.attempts.append(attempt)

    def throttled(self, name: Name, until: object) -> None:
        """Nobody asks."""


def one_after_another(receiver: Receiver, *answers: int | None) -> None:
    """Let the endpoint answer so; None: it keeps the message and never answers."""
    left = iter(answers)

    async def answer(_got: Got) -> web.Response:
        status = next(left)
        if status is None:
            await asyncio.Event().wait()
        return web.Response(status=status or 200)

    receiver.answers["/"] = answer


async def test_61_every_try_has_the_same_id_and_bytes_and_its_own_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    now = int(time.time())
    moments = iter((now - 60, now, now + 60))
    monkeypatch.setattr("services.writers.webhook.calls.utc_now", lambda: datetime.fromtimestamp(next(moments), UTC))
    async with receiving() as receiver, desk(replace(SETTINGS, webhook_timeout_seconds=1.0)) as at:
        secret = at.endpoints.add("wh-1", f"{receiver.url}/").secrets[0]
        at.blobs.blobs["e"] = json.dumps({"normalized": AWKWARD}).encode()
        one_after_another(receiver, 500, None, 200)
        kinds = [(await answered(at, hook(extraction_ref="e", try_number=number))).error_type for number in (1, 2, 3)]
    assert kinds == ["http_500", "timeout", ""]
    tries = receiver.got["/"]
    assert (len(tries), len({each.message_id for each in tries}), len({each.body for each in tries})) == (3, 1, 1)
    for each in tries:
        Webhook(secret).verify(each.body, dict(each.headers))
    signed = [dict(each.headers) for each in tries]
    assert [int(each.pop("webhook-timestamp")) for each in signed] == [now - 60, now, now + 60]
    assert len({each.pop("webhook-signature") for each in signed}) == 3
    assert signed[0] == signed[1] == signed[2], "nothing else differs"


async def test_61_also_from_another_process_to_another_url_with_another_secret_and_redelivered() -> None:
    async with receiving() as receiver:
        for path, sent in (
            ("/", hook(extraction_ref="e")),
            ("/moved", hook(extraction_ref="e", try_number=2)),
            ("/moved", hook(extraction_ref="e", generation=2)),
        ):
            async with desk() as at:
                secret = at.endpoints.add("wh-1", f"{receiver.url}{path}").secrets[0]
                at.blobs.blobs["e"] = json.dumps({"normalized": AWKWARD}).encode()
                assert (await answered(at, sent)).error_type == ""
                [*_, got] = receiver.got[path]
                Webhook(secret).verify(got.body, dict(got.headers))
        every = [got for all_got in receiver.got.values() for got in all_got]
    assert (len(every), len({each.message_id for each in every}), len({each.body for each in every})) == (3, 1, 1)


@pytest.mark.parametrize("ascii_only", [True, False])
async def test_63_the_signature_is_over_the_bytes_that_arrive_whatever_they_say(ascii_only: bool) -> None:
    async with receiving() as receiver, desk() as at:
        secret = at.endpoints.add("wh-1", f"{receiver.url}/").secrets[0]
        for number, (name, value) in enumerate(AWKWARD.items()):
            at.blobs.blobs[name] = json.dumps({"normalized": {name: value}}, ensure_ascii=ascii_only).encode()
            assert (await answered(at, hook(number, extraction_ref=name))).error_type == ""
        for got, (name, value) in zip(receiver.got["/"], AWKWARD.items(), strict=True):
            told = Webhook(secret).verify(got.body, dict(got.headers))
            assert told["data"]["extraction"] == {name: value}


async def test_63_behind_a_rotation_either_secret_verifies_and_no_other() -> None:
    async with receiving() as receiver, desk() as at:
        endpoint = at.endpoints.add("wh-1", f"{receiver.url}/")
        at.endpoints.endpoints["org-1", "wh-1"] = replace(endpoint, secrets=[new_secret(), *endpoint.secrets])
        await answered(at, hook())
        [got] = receiver.got["/"]
        assert len(got.headers["webhook-signature"].split(" ")) == 2
        for secret in at.endpoints.endpoints["org-1", "wh-1"].secrets:
            Webhook(secret).verify(got.body, dict(got.headers))
        with pytest.raises(Exception, match="No matching signature"):
            Webhook(new_secret()).verify(got.body, dict(got.headers))


@pytest.mark.parametrize("slow_org", ["org-a", "org-1"])  # another org's, or the second one of the same
async def test_64_an_endpoint_that_hangs_on_500_messages_delays_no_other(slow_org: str) -> None:
    async with receiving() as receiver, desk() as at:
        at.endpoints.add("wh-slow", f"{receiver.url}/slow", org_id=slow_org)
        at.endpoints.add("wh-1", f"{receiver.url}/fast")
        receiver.hangs("/slow")
        await at.take(*(hook(number, "wh-slow", org_id=slow_org) for number in range(500)))
        await at.take(*(hook(number) for number in range(100)))
        await eventually(lambda: len(at.results(destination_id="wh-1", error_type="")) == 100, 30)
        assert at.results(destination_id="wh-slow") == [], "all of the others arrived before any of the slow ones ended"
        assert len(receiver.got["/slow"]) == SETTINGS.webhook_calls


def failing(world: World, job_id: str, error_type: str = "timeout", **fields: Any) -> list[AnyEvent]:
    """Let the newest try of a job fail."""
    delivery = world.job(job_id).delivery("wh-1")
    assert delivery is not None
    result = ack(job_id, destination="wh-1", error_type=error_type, rows=0, try_number=delivery.try_number)
    return world.settle(msgspec.structs.replace(result, generation=delivery.generation, endpoint_version=1, **fields))


def delivered(world: World, job_id: str, *destinations: Destination) -> None:
    """Extract one more job whose data goes to the endpoint."""
    world.extracted(job_id, destinations=(POSTGRES, *(destinations or (HOOK,))))
    world.settle(ack(job_id))


def told(world: World) -> list[EndpointDisabled]:
    """Return what owners were told."""
    return [each.event for each in world.seen if isinstance(each.event, EndpointDisabled)]


def test_64_what_hangs_is_tried_again_and_disabled_after_the_stated_span_not_before_and_the_owner_is_told() -> None:
    world = World()
    began = 0
    for number in range(100):
        delivered(world, f"j{number}")
        failing(world, f"j{number}")
        began = began or world.now
        if told(world):
            break
        assert world.now - began < 5 * DAY * SECOND
        world.after(7 * 3600)
    [disabled] = told(world)
    assert world.now - began >= 5 * DAY * SECOND
    assert (disabled.org_id, disabled.webhook_id, disabled.reason) == ("acme", "wh-1", "failing")
    assert (disabled.first_failed_at, disabled.error_type) == (began, "timeout")
    assert sum(each.header.event_type == "DeliveryRequested" for each in world.seen) > 2 * 17, "it was tried again"


def exhaust(world: World, job_id: str, between: int = 0) -> list[AnyEvent]:
    """Let every try of a job fail, while other jobs succeed in between; return what the last one led to."""
    events: list[AnyEvent] = []
    for number, wait in enumerate(SCHEDULE):
        world.after(wait)
        for other in range(between):
            delivered(world, f"good-{number}-{other}")
            world.settle(ack(f"good-{number}-{other}", destination="wh-1"))
        events = failing(world, job_id, "http_500")
    return events


@pytest.mark.parametrize("between", [3, 0])  # successes between its tries, or none: alone it does not last five days
def test_65_one_job_that_exhausts_its_tries_leaves_the_endpoint_enabled(between: int) -> None:
    world = World()
    for number in range(20):
        delivered(world, f"ok-{number}")
        world.settle(ack(f"ok-{number}", destination="wh-1"))
    delivered(world, "bad")
    [*_, exhausted] = (e for e in exhaust(world, "bad", between) if isinstance(e, DeliveryDeadLettered))
    assert (exhausted.tries, exhausted.closed) == (8, False)
    assert not told(world)
    delivered(world, "later")
    world.settle(ack("later", destination="wh-1"))
    assert world.status("later").value == "completed"


def test_65_410_disables_at_once_also_after_a_thousand_successes() -> None:
    world = World()
    for number in range(20):
        delivered(world, f"ok-{number}")
        world.settle(ack(f"ok-{number}", destination="wh-1"))
    delivered(world, "gone")
    failing(world, "gone", "gone", retryable=False, closed=True)
    assert [(each.webhook_id, each.reason) for each in told(world)] == [("wh-1", "gone")]


async def test_65_410_is_told_and_closes_what_waits_also_after_a_crash_before_the_ledger_heard_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never(*_command: object) -> None:
        await asyncio.Event().wait()

    world = World()
    for job_id in ("j1", "j2"):
        delivered(world, job_id)
    failing(world, "j2")
    async with receiving() as receiver:
        receiver.says("/", 410)
        async with desk() as killed:
            killed.endpoints.add("wh-1", f"{receiver.url}/", org_id="acme")
            monkeypatch.setattr(killed.ledger, "tell", never)
            await killed.take(hook(1, org_id="acme", job_id="j1"))
            await eventually(lambda: receiver.got["/"])
        async with desk() as at:
            at.endpoints.endpoints = killed.endpoints.endpoints
            results = [await answered(at, hook(1, org_id="acme", job_id=job_id)) for job_id in ("j1", "j3", "j4")]
            assert len(receiver.got["/"]) == 2, "what else is for it is closed without a call"
    assert {(each.error_type, each.closed, each.retryable) for each in results} == {("gone", True, False)}
    world.settle(*results)
    events = world.after(0)
    assert [(each.webhook_id, each.reason, each.endpoint_version) for each in told(world)] == [("wh-1", "gone", 1)]
    closed = [each for each in events if isinstance(each, DeliveryDeadLettered)]
    assert [(each.job_id, each.error_type, each.closed) for each in closed] == [("j2", "endpoint_closed", True)]
    assert {world.status(job_id).value for job_id in ("j1", "j2")} == {"completed"}


PUBLIC = "127.0.0.2"  # stands for the public address that a name had when it was looked at
INSIDE = [
    "127.0.0.1",
    "[::ffff:10.0.0.1]",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "127.1",
    "169.254.169.254",
    "[::ffff:169.254.169.254]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:7f00:1::]",
    "100.64.0.1",
    "0.0.0.0",
    "localhost",
]


@pytest.mark.parametrize("host", INSIDE)
async def test_67_an_address_inside_is_refused_when_it_is_saved_and_when_it_is_connected_to(host: str) -> None:
    async with receiving() as receiver:
        url = f"http://{host}:{receiver.url.rpartition(':')[2]}/"
        with pytest.raises(Problem):
            domain_of(url, "url", allowed=())
        log = Noted()
        async with desk(replace(SETTINGS, allowed_networks=()), log) as at:  # type: ignore[arg-type]
            at.endpoints.add("wh-1", url)
            refused = await answered(at, hook())
        provider = DirectProvider(max_body_bytes=1000, allowed_networks=())
        await provider.start()
        page = await provider.fetch(FetchRequest(url))
        await provider.close()
        assert not receiver.got
    assert (refused.error_type in ("address_refused", "bad_url"), refused.retryable) == (True, False)
    assert isinstance(page, ProviderError)
    assert page.error_type in ("address_refused", "bad_url")
    assert [each.answer for each in log.attempts] == [""]


class Flipping:
    """The resolver of this machine, for which a name has another address each time it is asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
        self._left = iter(answers)
        self._real = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self.look_up)

    def look_up(self, host: Any, port: Any, *rest: Any, **named: Any) -> list[Any]:
        """Return the next address."""
        if host != "flips.example":
            return list(self._real(host, port, *rest, **named))
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (next(self._left), port))]


async def test_67_a_name_that_flips_leads_to_the_address_that_was_checked_or_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with receiving() as inside:
        port = int(inside.url.rpartition(":")[2])
        outside = Receiver()
        app = web.Application()
        app.router.add_post("/{path:.*}", outside.take)
        runner = web.AppRunner(app, access_log=None, keepalive_timeout=0)
        await runner.setup()
        await web.TCPSite(runner, PUBLIC, port).start()
        Flipping(monkeypatch, PUBLIC, "127.0.0.1", PUBLIC)
        async with desk(replace(SETTINGS, allowed_networks=networks_of(PUBLIC))) as at:
            at.endpoints.add("wh-1", f"http://flips.example:{port}/")
            results = [await answered(at, hook(number)) for number in range(2)]
        await runner.cleanup()
    assert [each.error_type for each in results] in (["", "address_refused"], ["", ""])
    assert not inside.got
    assert outside.got["/"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_67_a_redirect_to_where_credentials_are_is_not_followed_and_nothing_of_it_is_kept(status: int) -> None:
    async with receiving() as inside, receiving() as receiver:
        secret = "inner-secret-77"

        async def answer(_got: Got) -> web.Response:
            return web.Response(text=secret)

        inside.default = answer
        log = Noted()
        async with desk(attempts=log) as at:  # type: ignore[arg-type]
            for number, target in enumerate(("http://169.254.169.254/latest/meta-data", inside.url)):
                at.endpoints.add(f"wh-{number}", f"{receiver.url}/{number}")
                receiver.says(f"/{number}", status, Location=target)
                result = await answered(at, hook(number, f"wh-{number}"))
                assert result.error_type == "redirect"
                assert secret.encode() not in result.private
        assert not inside.got
    assert len(log.attempts) == 2
    assert not [each for each in log.attempts if secret in each.answer]


async def test_67_a_page_that_leads_inside_is_not_followed_there() -> None:
    async with receiving() as receiver:
        receiver.says("/", 302, Location="http://169.254.169.254/latest/meta-data")
        provider = DirectProvider(max_body_bytes=1000, allowed_networks=LOCAL)
        await provider.start()
        page = await provider.fetch(FetchRequest(f"{receiver.url}/"))
        await provider.close()
    assert isinstance(page, ProviderError)
    assert page.error_type == "address_refused"
