"""What is connected to for a customer is the very address that was checked."""

import errno
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from services.runtime.addresses import AddressRefused, CheckedResolver, address_refused, checked_connector
from services.runtime.networks import networks_of
from services.runtime.sessions import session_over

PUBLIC = "127.0.0.2"  # stands for a public address: the one that the tests allow
INSIDE = "127.0.0.1"
HOST = "flips.example"


class FakeResolver(AbstractResolver):
    """Knows one host with the addresses it was given."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in self.addresses
        ]

    async def close(self) -> None:
        pass


async def test_only_the_public_addresses_of_a_host_are_handed_on() -> None:
    resolver = CheckedResolver(allowed=(), inner=FakeResolver("10.0.0.1", "1.1.1.1"))
    assert [result["host"] for result in await resolver.resolve("host", 80)] == ["1.1.1.1"]


async def test_a_host_with_private_addresses_only_is_refused_by_name() -> None:
    resolver = CheckedResolver(allowed=(), inner=FakeResolver("10.0.0.1", "::1"))
    with pytest.raises(AddressRefused, match=r"inside\.example"):
        await resolver.resolve("inside.example", 80)


class Names:
    """What the machine's resolver says of one host: one answer after another, the last for ever."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: tuple[str, ...]) -> None:
        self.answers = list(answers)
        self.asked = 0
        self._real = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self.look_up)

    def look_up(self, host: Any, port: Any, *rest: Any, **named: Any) -> list[Any]:
        if host != HOST:
            return list(self._real(host, port, *rest, **named))
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (each, port)) for each in answer]


def bound_at_both() -> tuple[int, list[socket.socket]]:
    """Bind one port at both addresses: what is free at one may be somebody's at the other, then another is taken."""
    while True:
        sockets = [socket.socket(), socket.socket()]
        try:
            sockets[0].bind((PUBLIC, 0))
            port: int = sockets[0].getsockname()[1]
            sockets[1].bind((INSIDE, port))
            return port, sockets
        except OSError as error:
            for each in sockets:
                each.close()
            if error.errno != errno.EADDRINUSE:
                raise


@asynccontextmanager
async def two_services() -> AsyncIterator[tuple[int, list[str]]]:
    """Serve one port at both addresses; yields it and the list of addresses that were called."""
    called: list[str] = []

    async def noting(request: web.Request) -> web.Response:
        assert request.transport
        called.append(request.transport.get_extra_info("sockname")[0])
        return web.Response(headers={"Connection": "close"})

    app = web.Application()
    app.router.add_get("/", noting)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    port, sockets = bound_at_both()
    for each in sockets:
        await web.SockSite(runner, each).start()
    try:
        yield port, called
    finally:
        await runner.cleanup()


async def calls(port: int, host: str, count: int = 1) -> list[bool]:
    """Call a host and return which calls arrived; those that did not were refused for the address."""
    arrived = []
    async with session_over(checked_connector(networks_of(PUBLIC))) as session:
        for _ in range(count):
            arrived.append(await _called(session, f"http://{host}:{port}/"))
    return arrived


async def _called(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url) as response:
            return response.ok
    except aiohttp.InvalidURL:  # a bare number
        return False
    except aiohttp.ClientError as error:
        if not address_refused(error):
            raise
        return False


async def test_a_name_that_flips_between_two_calls_is_looked_up_once_for_each_and_never_leads_inside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = Names(monkeypatch, (PUBLIC,), (INSIDE,), (PUBLIC,), (INSIDE,))
    async with two_services() as (port, called):
        assert await calls(port, HOST, 4) == [True, False, True, False]
    assert (called, names.asked) == ([PUBLIC, PUBLIC], 4)


async def test_a_name_with_addresses_on_both_sides_leads_to_the_public_one(monkeypatch: pytest.MonkeyPatch) -> None:
    Names(monkeypatch, (INSIDE, PUBLIC), (PUBLIC, INSIDE))
    async with two_services() as (port, called):
        assert await calls(port, HOST, 2) == [True, True]
    assert called == [PUBLIC, PUBLIC]


@pytest.mark.parametrize(
    "spelled",
    [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "017700000001",
        "\uff11\uff12\uff17.0.0.1",
        "localhost",
        "0.0.0.0",
        "0",
        "[::1]",
        "[::]",
        "[::127.0.0.1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
    ],
)
async def test_an_address_inside_is_not_connected_to_however_it_is_spelled(spelled: str) -> None:
    async with two_services() as (port, called):
        assert await calls(port, spelled) == [False]
    assert called == []
