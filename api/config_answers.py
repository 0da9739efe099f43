"""What callers get of what is set up: orgs, keys, destinations, workflows; a struct per answer, as in `api.answers`."""

from typing import Annotated, Any

from msgspec import Meta

from api.answers import Answer
from api.times import Timestamp


class Org(Answer, frozen=True, kw_only=True):
    """An org, as its operator sees it."""

    org_id: str
    name: str
    plan: str
    partition: int
    max_in_flight: int
    max_pending: int  # 0: as the ledger is set
    max_queue_seconds: int  # 0: as the ledger is set
    retention_seconds: int  # that results are kept after the end of a job; 0: as the ledger is set
    paused_at: Timestamp | None  # null: it is not paused
    created_at: Timestamp


class Key(Answer, frozen=True, kw_only=True):
    """An API key without its secret."""

    key_id: str
    name: str
    scopes: list[str]
    created_at: Timestamp
    revoked_at: Timestamp | None
    expires_at: Timestamp | None
    last_used_at: Timestamp | None  # some minutes late


class NewKey(Key, frozen=True, kw_only=True):
    """An API key that was just made; `secret` is the whole key and is shown this once."""

    secret: str


class CallLimit(Answer, frozen=True, kw_only=True):
    """How many calls each key of an org may make a second; null: as the API is set, 0: as many as it likes."""

    org_id: str
    calls_per_second: float | None


class RegisteredOrg(Org, frozen=True, kw_only=True):
    """An org that was just registered, with its first key."""

    key: NewKey


class Orgs(Answer, frozen=True, kw_only=True):
    """All orgs, oldest first."""

    orgs: list[Org]


class Keys(Answer, frozen=True, kw_only=True):
    """All keys of an org, revoked ones included."""

    keys: list[Key]


class ConfiguredDestination(Answer, frozen=True, kw_only=True):
    """A place where the extractions of an org go."""

    destination_id: str
    kind: str
    gating: bool
    on_exhausted: str
    gate_seconds: int
    enabled: bool
    place: Annotated[str, Meta(description="the name of its table; empty where it is one of ours")]
    settings: dict[str, Any]
    fingerprint: Annotated[
        str | None, Meta(description="of its secrets: says whether two that were given are the same; null: none")
    ]


class TestedDestination(Answer, frozen=True, kw_only=True):
    """What came of connecting to a destination and making its table."""

    destination_id: str
    ok: bool
    place: str
    error_type: Annotated[str | None, Meta(description="as deliveries to it would fail now; null: ok")]
    message: Annotated[str | None, Meta(description="what to do about it")]
    columns: Annotated[list[str], Meta(description="of the table, as they are now; those that can be written to")]
    seconds: float


class Destinations(Answer, frozen=True, kw_only=True):
    """All destinations of an org, the internal one included."""

    destinations: list[ConfiguredDestination]


class WorkflowVersion(Answer, frozen=True, kw_only=True):
    """One version of a workflow, without its document."""

    workflow_id: str
    version: int
    state: str
    created_at: Timestamp
    published_at: Timestamp | None


class Workflow(WorkflowVersion, frozen=True, kw_only=True):
    """One version of a workflow: its document and the blob key that workers read."""

    document: dict[str, Any]
    ref: str


class WorkflowHistory(Workflow, frozen=True, kw_only=True):
    """The published version of a workflow, or else its newest, and all versions."""

    versions: list[WorkflowVersion]
    paused_at: Timestamp | None  # null: it is not paused


class WorkflowPause(Answer, frozen=True, kw_only=True):
    """Whether jobs of a workflow are held back."""

    workflow_id: str
    paused: bool


class WorkflowVersions(Answer, frozen=True, kw_only=True):
    """All versions of a workflow, newest first."""

    versions: list[WorkflowVersion]


class DeletedWorkflow(Answer, frozen=True, kw_only=True):
    """The workflow is deleted; jobs that were submitted with it keep the version that they have."""

    workflow_id: str
    deleted: bool


class Workflows(Answer, frozen=True, kw_only=True):
    """Each workflow of an org as its published version, or else its newest."""

    workflows: list[WorkflowVersion]
