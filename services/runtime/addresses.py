"""Which network addresses may be reached for a customer, checked on the very address that is connected to."""

import ipaddress
import socket
from ipaddress import IPv4Address, IPv6Address

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from yarl import URL

# Hosts of cloud providers that answer with the machine's own credentials; never a page.
METADATA = frozenset(
    ipaddress.ip_address(address)
    for address in ("169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "fd00:ec2::254")
)
NAT64 = ipaddress.ip_network("64:ff9b::/96")


class AddressRefused(OSError):
    """The host is at an address that may not be reached for a customer."""


def refusal(text: str, *, allow_private: bool) -> str | None:
    """Return why an IP address may not be reached, or None; addresses inside IPv6 ones count as themselves."""
    address = _innermost(ipaddress.ip_address(text.partition("%")[0]))
    if address in METADATA:
        return f"{address} hands out credentials of the machine"
    if allow_private:
        return None
    if not address.is_global or address.is_multicast or address.is_reserved:
        return f"{address} is not a public address"
    return None


def literal_refusal(url: URL, *, allow_private: bool) -> str | None:
    """Return why the address written in a URL may not be reached; a host name is judged when it is resolved."""
    host = url.host or ""
    try:
        return refusal(host, allow_private=allow_private)
    except ValueError:
        return None


def _innermost(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Unwrap an IPv4 address that is mapped, tunnelled or translated into an IPv6 one."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped:
        return address.ipv4_mapped
    if address.sixtofour:
        return address.sixtofour
    if address.teredo:
        return address.teredo[1]
    if address in NAT64 or (address.packed[:12] == bytes(12) and address.packed[12:] > b"\0\0\0\1"):
        return IPv4Address(address.packed[12:])
    return address


class CheckedResolver(AbstractResolver):
    """Resolves a host once and hands on only addresses that may be reached, so none can be swapped in between."""

    def __init__(self, *, allow_private: bool, inner: AbstractResolver | None = None) -> None:
        self._allow_private = allow_private
        self._inner = inner or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolve a host, or raise AddressRefused when no address of it may be reached."""
        found = await self._inner.resolve(host, port, family)
        refusals = [refusal(result["host"], allow_private=self._allow_private) for result in found]
        allowed = [result for result, reason in zip(found, refusals, strict=True) if reason is None]
        if found and not allowed:
            raise AddressRefused(f"{host}: {refusals[0]}")
        return allowed

    async def close(self) -> None:
        """Close the resolver underneath."""
        await self._inner.close()
