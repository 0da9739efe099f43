"""What callers ask about spider jobs, in the snake_case of their published API."""

import re
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, field

from api.spiders.requests import OfOrg, OrgName, SpiderRequest
from services.workers.spiders.options import LogLevel, Routing, RunOptions

MAX_LISTED, MAX_ITEMS, MAX_LINES = 200, 1_000, 10_000
MEBIBYTES = {"": 1, "m": 1, "mb": 1, "mib": 1, "g": 1024, "gb": 1024, "gib": 1024}
_MEMORY = re.compile(r"(\d{1,9})\s*([a-z]*)", re.IGNORECASE | re.ASCII)
State = Literal["pending", "dispatched", "running", "finished", "failed", "killed", "timed_out", "lost"]
Level = Literal["debug", "info", "warning", "error", "critical"]


class SubmitSpiders(SpiderRequest, frozen=True, kw_only=True):
    """Which spiders of which project are run, and how; several of them are one grouped job."""

    org: OrgName | None = None
    project: str
    spiders: list[str]
    spider_args: dict[str, str | int | float] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    deploy_version: int | Literal["latest"] | None = None
    grouped: bool | None = None
    unblock: Routing = "off"
    proxy_country: str | None = None
    isolate_pipelines: bool | None = None
    memory: Annotated[int | str | None, Meta(description='MiB, or a text such as "512m" or "2g"')] = None
    cpus: float | None = None
    timeout_seconds: int | None = None
    log_level: str | None = None
    priority: int | None = None


class ListSpiderJobs(OfOrg, frozen=True, kw_only=True):
    """Which jobs, newest first."""

    project: str | None = None
    state: Annotated[tuple[State, ...], Meta(description="may come several times: any of these")] = ()
    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED)] = 50
    cursor: str | None = None


class ReadLogs(OfOrg, frozen=True, kw_only=True):
    """Which lines of the log of a job: the newest that match."""

    lines: Annotated[int, Meta(ge=1, le=MAX_LINES, description="how many, the newest of them")] = 200
    level: str = ""
    contains: Annotated[str, Meta(max_length=1_000, description="in upper or lower case")] = ""


class ReadItems(OfOrg, frozen=True, kw_only=True):
    """Which items of a job."""

    cursor: Annotated[str, Meta(pattern=r"^\d{0,18}$", description="`next_cursor` of the page before")] = ""
    limit: Annotated[int, Meta(ge=1, le=MAX_ITEMS)] = 100


class DownloadItems(OfOrg, frozen=True, kw_only=True):
    """As what a file the items are wanted."""

    format: Literal["gz", "jsonl"] = "gz"


def options_of(body: SubmitSpiders, deploy_version: int) -> tuple[RunOptions | None, list[str]]:
    """Return the run options that a request comes to, of one version of the project; or what is wrong with its form."""
    wrong: list[str] = []
    memory = body.memory if isinstance(body.memory, int) else _memory_of(body.memory, wrong)
    level = (body.log_level or "INFO").upper()
    if level not in get_args(LogLevel):
        wrong.append(f"log_level: there are {', '.join(get_args(LogLevel))}")
    if wrong:
        return None, wrong
    given: dict[str, Any] = {
        "memory_mb": memory,
        "cpus": body.cpus,
        "timeout_seconds": body.timeout_seconds,
        "priority": body.priority,
    }
    return RunOptions(
        project=body.project,
        spiders=body.spiders,
        deploy_version=deploy_version,
        spider_args={name: str(value) for name, value in body.spider_args.items()},
        settings=body.settings,
        env=body.env,
        grouped=len(body.spiders) > 1,
        unblock=body.unblock,
        proxy_country=body.proxy_country or "",
        isolate_pipelines=body.isolate_pipelines is not False,
        log_level=level,  # type: ignore[arg-type]  # it is one of them
        **{name: value for name, value in given.items() if value is not None},
    ), []


def named_as_asked(fault: str) -> str:
    """Return what is wrong with run options under the name that a request has for the field."""
    return "memory" + fault.removeprefix("memory_mb") if fault.startswith("memory_mb:") else fault


def _memory_of(text: str | None, wrong: list[str]) -> int | None:
    if text is None:
        return None
    found = _MEMORY.fullmatch(text.strip())
    if found is None or found[2].lower() not in MEBIBYTES:
        wrong.append('memory: give MiB as a number, or a text such as "512m" or "2g"')
        return None
    return int(found[1]) * MEBIBYTES[found[2].lower()]
