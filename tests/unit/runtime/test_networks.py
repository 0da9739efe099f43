"""Which addresses may be reached for a customer, however an IPv4 address is wrapped."""

import pytest

from services.runtime.networks import LOCAL, networks_of, refusal


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
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "fd00::1",
        "fd00:ec2::254",
        "ff02::1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "2002:7f00:0001::",
        "64:ff9b::7f00:1",
        "64:ff9b:1::7f00:1",
        "2001:0:4136:e378:8000:63bf:80ff:fffe",
        "2606:4700::5efe:10.0.0.1",
        "2606:4700::200:5efe:10.0.0.1",
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert refusal(address, allowed=())


@pytest.mark.parametrize("address", ["93.184.215.14", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::101:101"])
def test_a_public_address_may_be_reached(address: str) -> None:
    assert refusal(address, allowed=()) is None
    assert refusal(address, allowed=networks_of("10.0.0.0/8")) is None


@pytest.mark.parametrize("wrapped", ["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::a01:203", "2002:a01:203::", "::a01:203"])
def test_only_the_networks_that_are_allowed_may_be_reached_beside_public_ones(wrapped: str) -> None:
    assert refusal(wrapped, allowed=networks_of("10.1.0.0/16,fd00::/8")) is None
    assert refusal(wrapped, allowed=networks_of("10.2.0.0/16, 192.168.0.0/16, fd00::/8"))
    assert refusal("fd12::1", allowed=networks_of("10.1.0.0/16,fd00::/8")) is None


def test_a_single_address_is_a_network() -> None:
    assert refusal("10.0.0.5", allowed=networks_of("10.0.0.5")) is None
    assert refusal("10.0.0.6", allowed=networks_of("10.0.0.5"))


@pytest.mark.parametrize("address", ["169.254.169.254", "::ffff:169.254.169.254", "100.100.100.200", "fd00:ec2::254"])
def test_what_hands_out_credentials_is_refused_whatever_is_allowed(address: str) -> None:
    assert refusal(address, allowed=networks_of("0.0.0.0/0,::/0"))


def test_a_stack_on_one_machine_reaches_that_machine_and_its_neighbours() -> None:
    assert not [each for each in ("127.0.0.1", "::1", "10.9.9.9", "172.17.0.2") if refusal(each, allowed=LOCAL)]
    assert refusal("169.254.1.1", allowed=LOCAL)


def test_nothing_said_allows_nothing() -> None:
    assert networks_of("") == networks_of("  ") == ()


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ("10.0.0.1/8", "bits set behind its prefix"),
        ("10.0.0.0/33", "is no network"),
        ("all", "is no network"),
        ("", "is no network"),
        ("10.0.0.0-10.0.0.9", "is no network"),
        ("::ffff:10.0.0.0/104", "are judged as IPv4"),
        ("64:ff9b::/96", "are judged as IPv4"),
        ("2002::/16", "are judged as IPv4"),
    ],
)
def test_the_part_that_is_no_network_is_named(part: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as refused:
        networks_of(f"192.168.0.0/16, {part}")
    assert repr(part) in str(refused.value)
