"""Which addresses a job may reach."""

import socket

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from services.runtime.addresses import AddressRefused, CheckedResolver, refusal


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


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fd00::1",
        "fd00:ec2::254",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "2002:7f00:0001::",
        "64:ff9b::7f00:1",
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert refusal(address, allow_private=False)


@pytest.mark.parametrize("address", ["93.184.215.14", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::101:101"])
def test_a_public_address_may_be_reached(address: str) -> None:
    assert refusal(address, allow_private=False) is None


def test_metadata_is_refused_even_where_private_addresses_are_allowed() -> None:
    assert refusal("10.0.0.1", allow_private=True) is None
    assert refusal("169.254.169.254", allow_private=True)
    assert refusal("::ffff:169.254.169.254", allow_private=True)


async def test_only_the_public_addresses_of_a_host_are_handed_on() -> None:
    resolver = CheckedResolver(allow_private=False, inner=FakeResolver("10.0.0.1", "1.1.1.1"))
    assert [result["host"] for result in await resolver.resolve("host", 80)] == ["1.1.1.1"]


async def test_a_host_with_private_addresses_only_is_refused_by_name() -> None:
    resolver = CheckedResolver(allow_private=False, inner=FakeResolver("10.0.0.1", "::1"))
    with pytest.raises(AddressRefused, match=r"inside\.example"):
        await resolver.resolve("inside.example", 80)
