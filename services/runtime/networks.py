"""Which IP addresses may be reached for a customer: public ones, and those of networks that the operator allows."""

import ipaddress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Networks = tuple[IPv4Network | IPv6Network, ...]

# Where machines in clouds are handed their own credentials; never a page, whichever networks are allowed.
METADATA = frozenset(
    ipaddress.ip_address(address)
    for address in (
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
    )
)
UNICAST = ipaddress.ip_network("2000::/3")  # outside of it no IPv6 address is a host on the internet
NAT64 = ipaddress.ip_network("64:ff9b::/96")
ISATAP = (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")  # in the middle of an address with an IPv4 one at its end


def networks_of(text: str) -> Networks:
    """Read networks or single addresses, comma-separated; raise ValueError, which names the part that is neither."""
    return tuple(_network(part.strip()) for part in text.split(",")) if text.strip() else ()


def _network(part: str) -> IPv4Network | IPv6Network:
    try:
        network = ipaddress.ip_network(part)
    except ValueError:
        hint = "has bits set behind its prefix" if _is_network(part) else "is no network"
        raise ValueError(f"{part!r} {hint}: write it as 10.0.0.0/8, fd00::/8 or 10.1.2.3") from None
    if innermost(network.network_address) != network.network_address:
        raise ValueError(f"{part!r} holds IPv4 addresses inside IPv6 ones, which are judged as IPv4: name these")
    return network


def _is_network(part: str) -> bool:
    try:
        ipaddress.ip_network(part, strict=False)
    except ValueError:
        return False
    return True


def refusal(text: str, *, allowed: Networks) -> str | None:
    """Return why an IP address may not be reached, or None; addresses inside IPv6 ones count as themselves."""
    address = innermost(ipaddress.ip_address(text.partition("%")[0]))
    if address in METADATA:
        return f"{address} hands out credentials of the machine"
    if any(address in network for network in allowed):
        return None
    return None if _is_public(address) else f"{address} is not a public address"


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address) and address not in UNICAST:
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


def innermost(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Unwrap an IPv4 address that is mapped, tunnelled or translated into an IPv6 one."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped:
        return address.ipv4_mapped
    if address.sixtofour:
        return address.sixtofour
    if address.teredo:
        return address.teredo[1]
    compatible = address.packed[:12] == bytes(12) and address.packed[12:] > b"\0\0\0\1"
    if address in NAT64 or compatible or address.packed[8:12] in ISATAP:
        return IPv4Address(address.packed[12:])
    return address


# What surrounds one machine, for stacks and tests on it.
LOCAL = networks_of("127.0.0.0/8,::1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7")
