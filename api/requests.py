"""What callers send: one struct per body and per query, in the camelCase of the published API."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from api.config.keys import SCOPES, Scope
from api.urls import MAX_URL_CHARS
from schemas.values import MAX_GATE_SECONDS
from services.ledger.credits import MAX_CREDITS
from services.ledger.provider_settings import WITH_CREDENTIAL
from services.runtime.settings import MAX_QUEUE_SECONDS

MAX_URLS = 10_000
MAX_IN_FLIGHT = 100_000
END = r"$(?!\n)"  # of a text: to `$` alone, Python lets a line break follow
ID_PATTERN = rf"^[a-z0-9][a-z0-9_-]{{0,62}}{END}"
LINE_PATTERN = rf"^[^\x00-\x1f\x7f-\x9f]*{END}"
# What every url has that is taken; whether its host is one to be asked no pattern can say.
URL_SCHEMA: dict[str, Any] = {"pattern": r"^[hH][tT][tT][pP][sS]?://[^/?#\s]\S*$", "maxLength": MAX_URL_CHARS}
MAX_PENDING = 100_000_000
Id = Annotated[str, Meta(pattern=ID_PATTERN, description="lower-case letters, digits, - and _")]
Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=LINE_PATTERN)]
InFlight = Annotated[int, Meta(ge=1, le=MAX_IN_FLIGHT, description="jobs dispatched or running at once")]
Erasure = Annotated[
    bool, Meta(description="seal what new jobs say of people, so that a deletion makes it unreadable in the log too")
]
QueueSeconds = Annotated[
    int,
    Meta(
        ge=0,
        le=MAX_QUEUE_SECONDS,
        description="how long a job may wait for its first claim before it fails with `queue_expired`; 0: the default",
    ),
]
PlanName = Annotated[str, Meta(pattern=rf"^[a-z0-9][a-z0-9_-]{{0,31}}{END}", description="one of the operator's plans")]
Credits = Annotated[int, Meta(ge=0, le=MAX_CREDITS)]
Status = Literal[
    "pending",
    "running",
    "waiting_retry",
    "extraction_done",
    "completed",
    "failed",
    "cancelled",
    "timed_out",
    "lost",
]


class Request(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Camel case, no unknown fields: a misspelt one is an error, not silence."""


class RegisterOrg(Request, frozen=True, kw_only=True):
    """An org to be registered."""

    name: Name
    org_id: Id | None = None
    plan: PlanName = "standard"
    max_in_flight: Annotated[InFlight | None, Meta(description="without it, what the plan has")] = None
    credits: Annotated[Credits | None, Meta(description="its first balance; without it, metered as its plan is")] = None
    erasure: Erasure = False


class SetErasure(Request, frozen=True, kw_only=True):
    """Whether the jobs that an org submits from now on are sealed."""

    enabled: Erasure


class ChangeCredits(Request, frozen=True, kw_only=True):
    """Credits to be given to an org, or the balance it is to have: one of the two."""

    grant: Annotated[int, Meta(ge=1, le=MAX_CREDITS, description="what is added to the balance")] | None = None
    set: Annotated[int, Meta(ge=0, le=MAX_CREDITS, description="what the balance is to be")] | None = None


class ChangePlan(Request, frozen=True, kw_only=True):
    """The plan that an org is put on."""

    plan: PlanName


class ListTransactions(Request, frozen=True, kw_only=True):
    """Which page of the transactions."""

    cursor: Annotated[str, Meta(description="`nextCursor` of the page before")] | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class CreateKey(Request, frozen=True, kw_only=True):
    """A key to be made."""

    name: Name = "key"
    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1)] = SCOPES


class RotateKey(Request, frozen=True, kw_only=True):
    """How long the old key works beside the new one."""

    overlap_seconds: Annotated[int, Meta(ge=0, le=30 * 86_400)] = 86_400


class SetCallLimit(Request, frozen=True, kw_only=True):
    """How many calls each key of an org may make a second."""

    calls_per_second: Annotated[float, Meta(ge=0, le=100_000, description="0: no limit; null: as set")] | None


class SaveCredential(Request, frozen=True, kw_only=True):
    """What an org signs in with at a provider."""

    provider: Annotated[str, Meta(extra_json_schema={"enum": list(WITH_CREDENTIAL)})]
    secret: Annotated[
        dict[str, str],
        Meta(description="write-only. brightdata: apiKey, zone; zyte: apiKey; the others: username, password"),
    ]
    label: Annotated[
        str,
        Meta(max_length=200, pattern=LINE_PATTERN, description="shown in the list; no secret"),
    ] = ""


OnExhausted = Annotated[
    Literal["hold", "waive", "fail"],
    Meta(description="what becomes of a job when the delivery is given up: held for a person, completed, or failed"),
]
GateSeconds = Annotated[
    int, Meta(ge=0, le=MAX_GATE_SECONDS, description="how long a job waits for the ACK; 0: as the ledger is set")
]


Settings = Annotated[dict[str, Any], Meta(description="of the kind, see docs/destinations.md; clickhouse has none")]
Secrets = Annotated[dict[str, Any], Meta(description="of the kind, write-only: kept sealed, shown as a fingerprint")]


class AddDestination(Request, frozen=True, kw_only=True):
    """A destination to be added."""

    kind: Literal["clickhouse", "customer_postgres", "customer_clickhouse", "bigquery", "snowflake", "databricks"]
    destination_id: Id | None = None  # None: as its kind
    gating: Annotated[bool, Meta(description="a job is completed only once the destination has its extraction")] = True
    on_exhausted: OnExhausted = "hold"
    gate_seconds: GateSeconds = 0
    settings: Settings = {}
    secrets: Secrets = {}


class ChangeDestination(Request, frozen=True, kw_only=True):
    """What changes about a destination.

    Settings and secrets take the place of those before as a whole, for all that is delivered from then on; the rest
    holds for jobs submitted from then on.
    """

    gating: bool | None = None
    on_exhausted: OnExhausted | None = None
    gate_seconds: GateSeconds | None = None
    enabled: Annotated[bool, Meta(description="a disabled one is closed to jobs that wait for it too")] | None = None
    settings: Settings | None = None
    secrets: Secrets | None = None


class SaveWorkflow(Request, frozen=True, kw_only=True):
    """A workflow document: a new workflow, or a new version of the one named."""

    document: dict[str, Any]
    workflow_id: Id | None = None
    publish: bool = False


class UpdateWorkflow(Request, frozen=True, kw_only=True):
    """A new version of a workflow that is there."""

    document: dict[str, Any]
    publish: bool = False


class CloneWorkflow(Request, frozen=True, kw_only=True):
    """What the copy is called, and which version is copied."""

    workflow_id: Id | None = None
    version: Annotated[int, Meta(ge=1, lt=2**31)] | None = None  # None: the published one, or else the newest
    name: Annotated[str, Meta(max_length=200)] | None = None  # of the document; None: as it was


class PublishWorkflow(Request, frozen=True, kw_only=True):
    """Which version is to run."""

    version: Annotated[int, Meta(ge=1, lt=2**31)] | None = None  # None: the newest


JobUrl = Annotated[str, Meta(extra_json_schema=URL_SCHEMA)]


class SubmitJobs(Request, frozen=True, kw_only=True):
    """One job (`url`) or many (`urls`) that share everything else."""

    url: JobUrl | None = None
    urls: Annotated[tuple[JobUrl, ...], Meta(min_length=1, max_length=MAX_URLS)] | None = None
    workflow_id: str | None = None
    input: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    priority: Annotated[int, Meta(ge=-100, le=100, description="higher goes first within the org")] = 0
    max_queue_seconds: QueueSeconds = 0  # as the org has it


class ReadJob(Request, frozen=True, kw_only=True):
    """As of when."""

    at: Annotated[
        str,
        Meta(
            description="the job as it stood then: a time (ISO 8601, UTC: `...Z`), or `partition:position` of the log"
        ),
    ] = ""


class ListEvents(Request, frozen=True, kw_only=True):
    """Which of a job's events."""

    after: Annotated[int, Meta(ge=0, description="`seq` of the last event that is known")] = 0
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


class BatchStatus(Request, frozen=True, kw_only=True):
    """The jobs asked about."""

    job_ids: Annotated[tuple[str, ...], Meta(min_length=1, max_length=1000)]


Instant = Annotated[datetime, Meta(tz=True)]


class ListJobs(Request, frozen=True, kw_only=True):
    """Which page of which list: jobs that meet every filter given."""

    status: Annotated[tuple[Status, ...], Meta(description="any of these: may come several times")] = ()
    workflow_id: Annotated[str, Meta(max_length=200)] | None = None
    domain: Annotated[str, Meta(max_length=255, description="the host, exactly")] | None = None
    schedule_id: Annotated[str, Meta(max_length=200)] | None = None
    error_type: Annotated[str, Meta(max_length=200)] | None = None
    created_after: Annotated[Instant, Meta(description="submitted at this instant or later")] | None = None
    created_before: Annotated[Instant, Meta(description="submitted earlier than this instant")] | None = None
    order: Annotated[Literal["newest", "oldest"], Meta(description="which comes first")] = "newest"
    cursor: Annotated[str, Meta(description="`nextCursor` of the page before, with the same `order`")] | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class ListExtractions(Request, frozen=True, kw_only=True):
    """Which page of the extractions, of which domain or url."""

    domain: Annotated[str, Meta(max_length=255, description="the host, exactly")] = ""
    url: Annotated[str, Meta(max_length=8192, description="as it was submitted, exactly")] = ""
    page: Annotated[int, Meta(ge=1, le=100_000)] = 1
    page_size: Annotated[int, Meta(ge=1, le=100)] = 20


EventType = Literal["job.completed", "job.failed"]
EventTypes = Annotated[
    tuple[EventType, ...], Meta(max_length=2, description="notices wanted beside the data delivery, which always comes")
]
WebhookUrl = Annotated[
    str, Meta(description="http:// or https://, without user name and password", extra_json_schema=URL_SCHEMA)
]


class CreateWebhook(Request, frozen=True, kw_only=True):
    """An endpoint to be made."""

    url: WebhookUrl
    event_types: EventTypes = ("job.completed", "job.failed")
    gating: Annotated[bool, Meta(description="whether jobs wait for this endpoint before they are completed")] = True
    on_exhausted: OnExhausted = "hold"
    gate_seconds: GateSeconds = 0
    enabled: bool = True


class ChangeWebhook(Request, frozen=True, kw_only=True):
    """What changes about an endpoint; jobs submitted before keep what they were submitted with."""

    url: WebhookUrl | None = None
    event_types: EventTypes | None = None
    gating: bool | None = None
    on_exhausted: OnExhausted | None = None
    gate_seconds: GateSeconds | None = None
    enabled: bool | None = None


class ListDeliveries(Request, frozen=True, kw_only=True):
    """How many of the newest deliveries."""

    limit: Annotated[int, Meta(ge=1, le=500)] = 50
