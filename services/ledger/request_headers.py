"""Which headers a workflow may have sent with its requests.

What frames a request belongs to who sends it: connections are shared by the pages of many orgs, and a Content-Length
without a body makes the site take the beginning of the next request for it.
"""

import re
from collections.abc import Iterator, Mapping

NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
OF_THE_SENDER = frozenset(
    (
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)


def header_faults(headers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the name of each header that cannot be sent, and why."""
    seen: dict[str, str] = {}
    for name, value in headers.items():
        plain = name.lower()
        if not NAME.fullmatch(name) or not VALUE.fullmatch(value):
            yield name, f"{name!r} is not a header that can be sent"
        elif plain in OF_THE_SENDER:
            yield name, f"{name!r} is set by who sends the request: leave it out"
        elif plain in seen:
            yield name, f"{name!r} is the same header as {seen[plain]!r}: keep one"
        seen.setdefault(plain, name)


def sendable(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Return the headers without those of the sender, which workflows may have that were saved before."""
    return {name: value for name, value in headers.items() if name.lower() not in OF_THE_SENDER}
