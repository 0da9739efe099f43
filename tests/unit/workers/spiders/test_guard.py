"""What the guard of a spider's network makes of names and addresses, with a resolver that says what a test wants."""

import errno
import logging
import socket
from typing import Any

import pytest

from services.runtime.networks import networks_of
from services.workers.spiders.child.network import Guard

HOME = networks_of("10.1.0.0/16")


class Way:
    """Resolves each name to addresses that are given, and connects nothing."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.connected: list[Any] = []

    def resolve(self, host: Any, port: Any, family: int, kind: int, proto: int, flags: int) -> list[Any]:
        """Return them."""
        return [
            (socket.AF_INET6 if ":" in each else socket.AF_INET, kind, 6, "", (each, port)) for each in self.addresses
        ]

    def connect(self, sock: socket.socket, address: Any) -> int:
        """Note the address."""
        self.connected.append(address[0])
        return 0


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1",
        "127.0.0.1",
        "169.254.169.254",
        "::1",
        "::ffff:10.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "fd00:ec2::254",
        "0.0.0.0",
    ],
)
def test_a_name_whose_dns_answer_is_inside_is_not_resolved_and_not_connected_to(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    way = Way(address)
    guard = Guard(way, HOME, programs=False)
    with caplog.at_level(logging.WARNING), pytest.raises(socket.gaierror):
        guard.getaddrinfo("shop.example", 80)
    assert "not reached: shop.example" in caplog.text
    with socket.socket() as sock:
        with pytest.raises(socket.gaierror):
            guard.connect_ex(sock, ("shop.example", 80))
        assert guard.connect_ex(sock, (address, 80)) == errno.EACCES
    assert way.connected == []


def test_of_several_answers_those_inside_are_left_out() -> None:
    found = Guard(Way("10.0.0.1", "8.8.8.8", "10.1.2.3"), HOME, programs=False).getaddrinfo("shop.example", 80)
    assert [each[4][0] for each in found] == ["8.8.8.8", "10.1.2.3"]


def test_what_is_connected_to_is_what_was_checked() -> None:
    way = Way("8.8.8.8")
    with socket.socket() as sock:
        assert Guard(way, HOME, programs=False).connect_ex(sock, ("shop.example", 80)) == 0
    assert way.connected == ["8.8.8.8"]


def test_metadata_stays_out_of_reach_where_its_network_is_allowed() -> None:
    guard = Guard(Way(), networks_of("169.254.0.0/16"), programs=False)
    with socket.socket() as sock:
        assert guard.connect_ex(sock, ("169.254.169.254", 80)) == errno.EACCES
        assert guard.connect_ex(sock, ("169.254.1.1", 80)) == 0
