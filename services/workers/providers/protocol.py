"""What a provider is: one call that fetches one page and never raises for what the network or the site did."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

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
        """Headers that the workflow wants sent."""
        return self.settings.headers


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page came back; header names are in lower case."""

    status: int
    content_type: str
    body: bytes = field(repr=False)
    final_url: str
    latency_ms: int
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProviderError:
    """No page came back; a value and not an exception, because the walk goes on from it."""

    error_type: ProviderErrorType
    message: str
    retryable: bool = False
    status_code: int = 0  # 0: no answer
    retry_after_seconds: float | None = None
    latency_ms: int = 0


FetchResult = Fetched | ProviderError


class Provider(Protocol):
    """Fetches pages; `start` and `close` frame its life."""

    async def start(self) -> None:
        """Open what calls need."""

    async def fetch(self, request: FetchRequest) -> FetchResult:
        """Fetch one page; raises only CancelledError."""

    async def close(self) -> None:
        """Close it; safe to repeat."""
