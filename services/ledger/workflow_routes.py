"""Which route of an org takes a job: the most specific one that its host falls under."""

import re

ANY_HOST = "*"
_ADDRESS = re.compile(r"[0-9.]+|.*:.*")  # of IPv4, or of IPv6: no part of it is above another


def candidates(host: str) -> list[str]:
    """Return the routes that would take a host (lower-case ASCII, no dot at its end), the most specific first."""
    if _ADDRESS.fullmatch(host):
        return [host, ANY_HOST]
    labels = host.split(".")
    return [*(".".join(labels[number:]) for number in range(len(labels))), ANY_HOST]
