"""Which URLs a job may be about, and the domain it is filed under."""

import re
import socket

from yarl import URL

from api.errors import Problem, invalid
from services.ledger.workflow_routes import ANY_HOST
from services.runtime.networks import Networks, refusal

MAX_URL_CHARS = 8192
MAX_HOST_CHARS, MAX_LABEL_CHARS = 253, 63  # of any name in DNS
LOOPBACK = ("127.0.0.1", "::1")
_NO_HOST = re.compile(
    r"[/?#@\\%*\s]|^\.|\.\.|^[^\[]*:"
)  # a path, a user, a port, a pattern; no part of a name is empty
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", re.ASCII)


def domain_of(text: str, field: str, *, allowed: Networks) -> str:
    """Return the host of a URL that may be called, in lower-case ASCII; otherwise raise a Problem for `field`."""
    host = host_of(text, field)
    if _is_refused(host, allowed):
        raise invalid(field, f"{host} is not a public address, and only public ones may be called")
    return host


def host_of(text: str, field: str) -> str:
    """Return the host of a URL, wherever it is, in lower-case ASCII; otherwise raise a Problem for `field`."""
    if len(text) > MAX_URL_CHARS:
        raise invalid(field, f"a url takes at most {MAX_URL_CHARS} characters")
    try:
        url = URL(text)
        host, _ = url.raw_host, url.port
    except ValueError:
        raise invalid(field, "not a url: expected http://host/path or https://host/path") from None
    if url.scheme not in ("http", "https") or not host or not host.strip("."):
        raise invalid(field, "the url must begin with http:// or https:// and name a host")
    if url.explicit_port == 0:
        raise invalid(field, "nobody listens on port 0: leave it out, or name the port")
    name = host.rstrip(".")
    if ":" not in host and (len(name) > MAX_HOST_CHARS or max(map(len, name.split("."))) > MAX_LABEL_CHARS):
        raise invalid(
            field, f"a host takes at most {MAX_HOST_CHARS} characters, {MAX_LABEL_CHARS} between two of its dots"
        )
    if not text.isprintable() or " " in text:
        raise invalid(field, "the url holds blanks or control characters: percent-encode them")
    if url.user is not None or url.password is not None:
        raise invalid(field, "the url holds a user name or password: leave it out, urls are stored and shown")
    return host.lower().rstrip(".")


def route_form(route: str) -> str | None:
    """Return what a route takes, `*` or a host as `domain_of` returns it, or None where it is no route."""
    kind, _, written = route.partition(":")
    if route == ANY_HOST:
        return ANY_HOST
    if kind != "domain" or _NO_HOST.search(written):
        return None
    try:
        host = host_of(f"http://{written}/", "routes")
    except Problem:
        return None
    return host if _HOST.fullmatch(host) or ":" in host else None


def _is_refused(host: str, allowed: Networks) -> bool:
    """Judge an address written in the URL, however it is spelled; names are judged when they are resolved."""
    if host == "localhost" or host.endswith(".localhost"):
        return all(refusal(each, allowed=allowed) for each in LOOPBACK)
    try:
        return refusal(host, allowed=allowed) is not None
    except ValueError:
        pass
    try:  # 2130706433, 0x7f.1, 017700000001: what connect() makes of them
        return refusal(socket.inet_ntoa(socket.inet_aton(host)), allowed=allowed) is not None
    except (OSError, UnicodeError, ValueError):
        return False
