"""Where a customer's host is: resolved once, and only at addresses that may be reached for a customer."""

import asyncio
import socket

from services.runtime.addresses import AddressRefused, CheckedResolver
from services.runtime.networks import Networks, refusal
from services.writers.warehouses.warehouse import Refusal
from services.writers.writer import DestinationDown

RESOLVE_SECONDS = 5.0


async def checked_addresses(host: str, *, allowed: Networks) -> list[str]:
    """Return the addresses of a host that may be connected to; raise Refusal where there is none of these."""
    try:
        if why := refusal(host, allowed=allowed):
            raise Refusal(f"the address of the destination may not be reached: {why}")
        return [host]
    except ValueError:  # a name
        pass
    resolver = CheckedResolver(allowed=allowed)
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            found = await resolver.resolve(host, 0, socket.AF_UNSPEC)
    except AddressRefused:
        raise Refusal(f"the address of the destination may not be reached: {host} is not public") from None
    except (OSError, TimeoutError) as error:
        raise DestinationDown(f"the host {host} is not found: {type(error).__name__}") from error
    finally:
        await resolver.close()
    return [each["host"] for each in found]


def written_inside(host: str, allowed: Networks) -> bool:
    """Whether a host is no name but an address, of a network that is allowed although it is not public."""
    try:
        return refusal(host, allowed=()) is not None and refusal(host, allowed=allowed) is None
    except ValueError:
        return False
