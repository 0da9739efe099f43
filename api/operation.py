"""One call of the API, declared next to its handler: routing, authentication, reading and OpenAPI follow from it."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, Literal

from aiohttp import web
from msgspec import Struct

from api.auth import Caller
from api.errors import Problem
from api.parts import Parts
from services.runtime.ids import uuid7
from services.runtime.settings import Settings

Access = Literal["open", "read", "submit", "admin", "operator"]


@dataclass(frozen=True, slots=True)
class Call:
    """One request that was let in and read."""

    request: web.Request
    parts: Parts
    caller: Caller
    body: Any  # of the operation's `body` type; None: it has none
    query: Any  # of the operation's `query` type; None: it has none
    request_id: str

    @property
    def traceparent(self) -> str:
        """The caller's W3C trace context, or nothing where it sent none of that form."""
        text = self.request.headers.get("traceparent", "")
        return text if len(text) == 55 and text.isascii() and text.count("-") == 3 else ""

    def asks(self, org_id: str = "") -> dict[str, Any]:
        """Return what every command says of who asks; its org is the caller's unless another is given."""
        return {
            "command_id": uuid7(),
            "org_id": org_id or self.caller.org_id,
            "requester": self.parts.commander.boot_id,
            "actor": self.caller.actor,
            "correlation_id": self.request_id,
            "traceparent": self.traceparent,
        }


Handler = Callable[[Call], Awaitable[web.StreamResponse]]
Faults = Callable[[Settings, Mapping[str, Any]], Iterator[Problem]]
Shape = Callable[[Parts, web.Request], type[Struct]]


@dataclass(frozen=True, slots=True)
class Operation:
    """A call: who may make it, what it takes, what it answers, and what can go wrong beside the usual.

    `answers` maps status codes to the struct of the body, or a union of structs; None: a body that is no JSON of ours.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    summary: str
    access: Access
    handler: Handler
    answers: dict[int, Any]
    operator_too: bool = False  # the operator may make it as well, for whichever org
    body: type[Struct] | UnionType | None = None
    shape: Shape | None = None  # of the body of a request, where its path says which it is
    faults: Faults | None = None  # of a body at fault: what types do not show about its fields that are of their type
    form: str = ""  # the media type of a body that is no JSON: the handler reads it
    body_optional: bool = False  # no body at all means all defaults
    query: type[Struct] | None = None
    positioned: bool = False  # reads the read model: takes `min_position`, answers `Ledger-Position`
    media_type: str = "application/json"  # of what is answered
    headers: tuple[str, ...] = ()  # request headers with a meaning of their own
    max_body_bytes: int = 1024 * 1024
    errors: tuple[str, ...] = ()
