"""Connects for a customer only where that is allowed: a host is resolved once, and what is connected to was checked."""

import socket
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from services.runtime.networks import Networks, refusal


class AddressRefused(OSError):
    """The host is at an address that may not be reached for a customer."""


class CheckedResolver(AbstractResolver):
    """Resolves a host once and hands on only addresses that may be reached, so none can be swapped in between."""

    def __init__(self, *, allowed: Networks, inner: AbstractResolver | None = None) -> None:
        self._allowed = allowed
        self._inner = inner or ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolve a host, or raise AddressRefused when no address of it may be reached."""
        found = await self._inner.resolve(host, port, family)
        refusals = [refusal(result["host"], allowed=self._allowed) for result in found]
        allowed = [result for result, reason in zip(found, refusals, strict=True) if reason is None]
        if found and not allowed:
            raise AddressRefused(f"{host}: {refusals[0]}")
        return allowed

    async def close(self) -> None:
        """Close the resolver underneath."""
        await self._inner.close()


def checked_connector(allowed: Networks, **options: Any) -> aiohttp.TCPConnector:
    """Return a connector that opens no socket to an address that may not be reached, also where a URL spells it out.

    Addresses in URLs never see a resolver, which is why the sockets are checked too.
    """

    def opened(info: aiohttp.AddrInfoType) -> socket.socket:
        family, kind, proto, _, to = info
        if reason := refusal(str(to[0]), allowed=allowed):
            raise AddressRefused(reason)
        return socket.socket(family, kind, proto)

    resolver = CheckedResolver(allowed=allowed)
    return aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, socket_factory=opened, **options)


def address_refused(error: BaseException) -> AddressRefused | None:
    """Return the refusal of an address because of which a call failed, or None where it failed otherwise."""
    for each in (error, error.__cause__):
        if isinstance(each, AddressRefused):
            return each
    return None
