"""What a provider is: one call that fetches one page and never raises for what the network or the site did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from services.ledger.request_headers import sendable
from services.ledger.workflow import ServiceSettings

ProviderErrorType = Literal[
    "timeout",
    "connection",
    "http_429",
    "http_5xx",
    "http_4xx",
    "too_large",
    "redirect_loop",
    "address_refused",
    "bad_url",
    "credential_missing",  # the org has none for this provider
    "credential_unreadable",  # it has one, sealed with a key that this worker was not given
    "provider_auth",  # the provider does not accept the credential
    "provider_quota",  # the account at the provider is used up
    "provider_request",  # the provider finds fault with the request
    "provider_policy",  # the provider does not fetch such a page for anybody, or not for this account
    "provider_failed",  # the provider took the request and could not get the page
    "bad_answer",  # what came is no answer of this provider
]

# Headers of an answer that are worth keeping; cookies and the rest are not ours to store.
KEPT_HEADERS = frozenset(
    (
        "content-type",
        "content-language",
        "content-encoding",
        "etag",
        "last-modified",
        "location",
        "retry-after",
        "server",
    )
)


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """One page to fetch, as the settings of its service node ask; the time limit is of the whole call."""

    url: str
    settings: ServiceSettings = field(default_factory=ServiceSettings)
    job_id: str = ""
    org_id: str = ""

    @property
    def timeout_seconds(self) -> float:
        """Time limit of this try."""
        return self.settings.timeout_seconds

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers that the workflow wants sent, as far as it may."""
        return sendable(self.settings.headers)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page came back; header names are in lower case."""

    status: int
    content_type: str
    body: bytes = field(repr=False)
    final_url: str
    latency_ms: int
    headers: Mapping[str, str] = field(default_factory=dict)
    billed: bool = False  # the provider charges for this call


@dataclass(frozen=True, slots=True)
class ProviderError:
    """No page came back; a value and not an exception, because the walk goes on from it."""

    error_type: ProviderErrorType
    message: str
    retryable: bool = False
    status_code: int = 0  # 0: no answer
    retry_after_seconds: float | None = None
    latency_ms: int = 0
    billed: bool = False  # the provider charges for it all the same


FetchResult = Fetched | ProviderError


class Credentials(Protocol):
    """Knows what each org signs in with at each provider."""

    async def secret(self, org_id: str, provider: str) -> Mapping[str, str] | ProviderError:
        """Return the fields of a credential, or why the org has none; raises CredentialsAway in an outage of ours."""

    def forget(self, org_id: str, provider: str) -> None:
        """Look it up anew the next time: the provider did not accept it."""


class Provider(Protocol):
    """Fetches pages; `start` and `close` frame its life."""

    async def start(self) -> None:
        """Open what calls need."""

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Fetch one page; raises only CancelledError, and CredentialsAway: an outage of ours is nobody's failed try."""

    async def close(self) -> None:
        """Close it; safe to repeat."""
