"""How a provider is asked and how its answers read: pure functions, told apart by provider, with what they share."""

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol, TypeVar

import msgspec
from multidict import CIMultiDict, CIMultiDictProxy

from services.runtime.retry_after import retry_after_seconds
from services.workers.providers.answers import REQUEST_TIMEOUT, TOO_MANY_REQUESTS, error_of_status, kept_headers
from services.workers.providers.protocol import Fetched, FetchRequest, FetchResult, ProviderError, ProviderErrorType

MESSAGE_CHARS = 300
SHORTEST_SECRET = 4  # what is shorter stands in any text, and says nothing
LEAST_STATUS = 100  # of HTTP
HTML, MARKDOWN, JSON = "text/html", "text/markdown", "application/json"

T = TypeVar("T", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Ask:
    """One call of a provider: where below its base URL, signed in how, and with which JSON."""

    path: str
    authorization: str = field(repr=False)
    body: Mapping[str, object] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider answered over HTTP to a request."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    request: FetchRequest
    now: datetime

    @property
    def as_markdown(self) -> bool:
        """Whether markdown was asked for."""
        return self.request.settings.output_format == "markdown"


class Dialect(Protocol):
    """One provider, as documented by it."""

    name: str

    def ask(self, request: FetchRequest, secret: Mapping[str, str]) -> Ask:
        """Return the call that fetches a page as its node's settings ask."""

    def read(self, answer: Answer) -> FetchResult:
        """Return the page, or the error that the answer stands for."""


def basic(user: str, password: str) -> str:
    """Return an Authorization header of HTTP's basic scheme."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def parsed(shape: type[T], body: bytes) -> T | None:
    """Read JSON into a shape that ignores what it does not name; None where it does not fit."""
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def refusal(provider: str, answer: Answer, said: str) -> ProviderError:
    """Return what a status of the provider itself, other than 200, stands for."""
    return refusal_of(provider, answer.status, answer.headers, said, answer.now)


def refusal_of(provider: str, status: int, headers: Mapping[str, str], said: str, now: datetime) -> ProviderError:
    """Classify the provider's own refusal; `said` is its message."""
    error_type, what, retryable = _class_of(status)
    wait = retry_after_seconds(headers.get("Retry-After", ""), now) if retryable else None
    if error_type == "http_429":
        wait = wait or 0.0
    message = f"{provider} {what} ({status})" + (f": {said[:MESSAGE_CHARS]}" if said else "")
    return ProviderError(error_type, message, retryable, status, wait)


def _class_of(status: int) -> tuple[ProviderErrorType, str, bool]:
    if status in (401, 403, 407):
        return "provider_auth", "does not accept the org's credential", False
    if status == 402:
        return "provider_quota", "says that the account is used up", False
    if status == TOO_MANY_REQUESTS:
        return "http_429", "asks for fewer requests", True
    if status == REQUEST_TIMEOUT:
        return "timeout", "gave up waiting", True
    if status >= 500:
        return "http_5xx", "failed", True
    if status >= 400:
        return "provider_request", "refuses the request", False
    return "bad_answer", "answered what it does not document", False


def bad_answer(provider: str, answer: Answer, what: str) -> ProviderError:
    """Return the error for a 200 whose body is not what the provider documents."""
    return ProviderError("bad_answer", f"{provider} answered without {what}", False, answer.status)


def page(
    answer: Answer,
    *,
    status: int,
    body: bytes | str,
    headers: Mapping[str, str],
    content_type: str,
    final_url: str,
    billed: bool = True,
) -> FetchResult:
    """Return the site's answer that the provider passed on: a page, or the error that the site's status stands for.

    A text was decoded by the provider and is UTF-8 from here on, whatever the site's headers say.
    """
    if status < LEAST_STATUS:
        return ProviderError(
            "bad_answer", f"the provider passed on {status} as the site's status", False, answer.status
        )
    error = error_of_status(status, headers, answer.now)
    if error:
        return replace(error, billed=billed)
    if isinstance(body, str):
        body, content_type = body.encode("utf-8", "surrogatepass"), f"{content_type.partition(';')[0]}; charset=utf-8"
    return Fetched(status, content_type, body, final_url or answer.request.url, 0, kept_headers(headers), billed)


def site_headers(told: Mapping[str, str | list[str]]) -> Mapping[str, str]:
    """Return the headers of a site as a provider lists them, found whatever the case of their names."""
    pairs = ((name, value if isinstance(value, str) else ", ".join(value)) for name, value in told.items())
    return CIMultiDictProxy(CIMultiDict(pairs))


def cookies_of(headers: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Split the headers of a node into those that are none, and the cookies that a `Cookie` header holds."""
    plain = {name: value for name, value in headers.items() if name.lower() != "cookie"}
    cookies: dict[str, str] = {}
    for name, value in headers.items():
        if name.lower() == "cookie":
            pairs = (pair.strip().partition("=") for pair in value.split(";") if pair.strip())
            cookies |= {key: text for key, _, text in pairs}
    return plain, cookies


def session_of(request: FetchRequest) -> str:
    """Return the id of a session: 32 hex digits that differ between orgs, whatever characters the node's name has."""
    name = f"{request.org_id}\0{request.settings.session}"
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def without(secrets: Iterable[str], text: str) -> str:
    """Return a text with secrets blanked, longest first: one may be a part of another."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return text
