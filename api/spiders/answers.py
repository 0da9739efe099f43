"""What callers get of orgs, projects and deploys of spiders, in the snake_case of their published API."""

from typing import Any

import msgspec

from api.times import Timestamp


class SpiderAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Every field is always there; what is not known (yet) is null."""


class SpiderHealth(SpiderAnswer, frozen=True, kw_only=True):
    """The API answers."""

    status: str


class SpiderOrg(SpiderAnswer, frozen=True, kw_only=True):
    """An org; its slug is its id in every API."""

    slug: str
    name: str
    plan: str
    concurrency_slots: int  # jobs dispatched or running at once
    retention_days: float  # that items are kept after the end of a job; 0: for ever
    created_at: Timestamp


class RegisteredSpiderOrg(SpiderOrg, frozen=True, kw_only=True):
    """An org that was just registered; `api_key` is its first key, and is shown this once."""

    api_key: str


class SpiderOrgs(SpiderAnswer, frozen=True, kw_only=True):
    """The orgs that the caller sees, oldest first."""

    orgs: list[SpiderOrg]


class SpiderProject(SpiderAnswer, frozen=True, kw_only=True):
    """A project."""

    org: str
    slug: str
    name: str
    created_at: Timestamp
    updated_at: Timestamp


class SpiderProjects(SpiderAnswer, frozen=True, kw_only=True):
    """The projects that the caller asked for, by their slugs."""

    projects: list[SpiderProject]


class DeletedProject(SpiderAnswer, frozen=True, kw_only=True):
    """A project that is gone; records of its jobs stay."""

    org: str
    slug: str
    deleted: bool
    killed_jobs: int  # that were queued


class ProjectSettings(SpiderAnswer, frozen=True, kw_only=True):
    """What a project is set with; values of `env` and `repo_token` are always null: they are kept, and not shown."""

    repo_url: str
    repo_ref: str
    repo_token: None
    has_repo_token: bool
    env: dict[str, None]
    updated_at: Timestamp


class SpiderDeploy(SpiderAnswer, frozen=True, kw_only=True):
    """A version of a project; `image` names what is in it: two with the same are the same."""

    org: str
    project: str
    version: int
    image: str
    size_bytes: int
    spiders: list[str]
    source: str
    notes: str
    created_at: Timestamp


class SpiderDeploys(SpiderAnswer, frozen=True, kw_only=True):
    """The versions of a project, newest first: the first one runs where no version is asked for."""

    deploys: list[SpiderDeploy]


class SpiderDestination(SpiderAnswer, frozen=True, kw_only=True):
    """Where the items of a project's jobs go, when they have ended; it changes no outcome of theirs."""

    id: int
    org: str
    project: str
    name: str
    kind: str
    place: str  # the name of its table
    settings: dict[str, Any]
    fingerprint: str | None  # of its secrets: two with the same have the same; null: it has none
    enabled: bool


class SpiderDestinations(SpiderAnswer, frozen=True, kw_only=True):
    """The destinations that the caller asked for, by their ids."""

    destinations: list[SpiderDestination]


class DeletedByNumber(SpiderAnswer, frozen=True, kw_only=True):
    """What is gone."""

    id: int
    deleted: bool


class SpiderSchedule(SpiderAnswer, frozen=True, kw_only=True):
    """A schedule and the run that it submits, as it was asked for; values of `env` are kept, and not shown."""

    id: int
    org: str
    project: str
    name: str
    cron: str
    timezone: str
    spiders: list[str]
    spider_args: dict[str, Any]
    settings: dict[str, Any]
    env: dict[str, None]
    deploy_version: int | None  # null: the latest when it fires
    grouped: bool | None
    unblock: str
    proxy_country: str | None
    isolate_pipelines: bool | None
    memory: int | str | None
    cpus: float | None
    timeout_seconds: int | None
    log_level: str | None
    priority: int | None
    enabled: bool
    next_run_at: Timestamp | None  # null: it is disabled
    last_run_at: Timestamp | None
    created_at: Timestamp


class SpiderSchedules(SpiderAnswer, frozen=True, kw_only=True):
    """The schedules that the caller asked for, by their ids."""

    schedules: list[SpiderSchedule]


class SpiderRun(SpiderAnswer, frozen=True, kw_only=True):
    """The job that a schedule submitted just now; `next_run_at` is as it was."""

    id: int
    key: str
    next_run_at: Timestamp | None
