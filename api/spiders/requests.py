"""What callers send about spiders, in the snake_case of their published API."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from api.requests import LINE_PATTERN, Id, InFlight, Name, PlanName
from services.runtime.settings import MAX_RETENTION_SECONDS

DAY_SECONDS = 86_400
MAX_LINE_CHARS = 2_048
Line = Annotated[str, Meta(max_length=MAX_LINE_CHARS, pattern=LINE_PATTERN)]
Notes = Annotated[str, Meta(max_length=10_000)]
OrgName = Annotated[str, Meta(description="slug of the org; without it, that of the key")]
Days = Annotated[
    int,
    Meta(
        ge=0,
        le=MAX_RETENTION_SECONDS // DAY_SECONDS,
        description="for how long items are kept after the end of a job; 0 or nothing: as the ledger is set",
    ),
]


class SpiderRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Snake case, no unknown fields: a misspelt one is an error, not silence."""


class RegisterSpiderOrg(SpiderRequest, frozen=True, kw_only=True):
    """An org to be registered."""

    slug: Id
    name: Name
    plan: PlanName = "standard"
    concurrency_slots: Annotated[InFlight | None, Meta(description="without it, what the plan has")] = None
    retention_days: Days | None = None


class OfOrg(SpiderRequest, frozen=True, kw_only=True):
    """Of which org."""

    org: OrgName | None = None


class OfProject(OfOrg, frozen=True, kw_only=True):
    """Of which org, and of which project alone, if of one."""

    project: str | None = None


class AddProject(OfOrg, frozen=True, kw_only=True):
    """A project to be made."""

    slug: Id
    name: Annotated[Name | None, Meta(description="without it, the slug")] = None


class SaveProjectSettings(SpiderRequest, frozen=True, kw_only=True):
    """What a project is set with; what is left out, or null, stays as it is."""

    repo_url: Annotated[Line | None, Meta(description="without user and password; an empty one: none")] = None
    repo_ref: Annotated[Line | None, Meta(description="a branch, tag or commit; an empty one: none")] = None
    repo_token: Annotated[Line | None, Meta(description="write-only; an empty one: none")] = None
    env: Annotated[
        dict[str, str | None] | None,
        Meta(description="write-only; all variables, and null for one whose value stays: others are dropped"),
    ] = None


class ListDeploys(OfOrg, frozen=True, kw_only=True):
    """Of which project."""

    project: str


class UploadDeploy(OfOrg, frozen=True, kw_only=True):
    """A form with a project's archive."""

    project: str
    archive: Annotated[
        str, Meta(description="a tar.gz of the project", extra_json_schema={"contentMediaType": "application/gzip"})
    ]
    source: Annotated[Line, Meta(description="where it comes from, for people")] = "upload"
    notes: Notes = ""


class DeployFromGit(OfOrg, frozen=True, kw_only=True):
    """What is to be deployed of the project's repository."""

    project: str
    ref: Line | None = None
    notes: Notes = ""


class AddSpiderDestination(OfOrg, frozen=True, kw_only=True):
    """Where the items of a project's jobs are to go."""

    project: str
    name: Name
    kind: str
    settings: Annotated[
        dict[str, Any], Meta(description="of the kind, see docs/destinations.md; its secrets may stand among them")
    ] = {}
    secrets: Annotated[dict[str, Any], Meta(description="of the kind, write-only: kept sealed")] = {}
    enabled: bool = True
