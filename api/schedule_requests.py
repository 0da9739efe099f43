"""What callers send about schedules: one struct per body and per query, as in `api.requests`."""

from typing import Annotated

from msgspec import Meta

from api.requests import END, Name, Request, SubmitJobs
from api.schedules.plan import Missed

MAX_TAGS = 20
TAG = r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,62}"
Tag = Annotated[str, Meta(pattern=f"^{TAG}{END}", description="letters, digits, _ . : -")]
Tags = Annotated[tuple[Tag, ...], Meta(max_length=MAX_TAGS)]
TagList = Annotated[
    str, Meta(pattern=rf"^({TAG}(,{TAG}){{0,{MAX_TAGS - 1}}})?{END}", description="tags, with commas between them")
]
Cursor = Annotated[str, Meta(description="`nextCursor` of the page before")]
Limit = Annotated[int, Meta(ge=1, le=500)]


class SaveSchedule(Request, frozen=True, kw_only=True):
    """A schedule: what is submitted when."""

    name: Name
    cron: Annotated[str, Meta(description="minute, hour, day of month, month, day of week; six fields: seconds first")]
    work: Annotated[SubmitJobs, Meta(description="what each fire submits, as POST /api/v1/jobs takes it")]
    timezone: Annotated[str, Meta(description="a name of the IANA database, such as Europe/Berlin")] = "UTC"
    tags: Tags = ()
    missed: Annotated[
        Missed,
        Meta(description="what becomes of missed due times: none is made up for, one fire for all of them, or each"),
    ] = "once"
    enabled: bool = True


class TagFilter(Request, frozen=True, kw_only=True):
    """Schedules with one of `any` at least, all of `all`, and none of `none`; what is left out asks nothing."""

    any: Tags = ()
    all: Tags = ()
    none: Tags = ()


class ByTags(Request, frozen=True, kw_only=True):
    """Which schedules are meant."""

    tag_filter: TagFilter


class ListSchedules(Request, frozen=True, kw_only=True):
    """Which page of the list."""

    tags_any: TagList = ""
    tags_all: TagList = ""
    tags_none: TagList = ""
    enabled: bool | None = None
    cursor: Cursor | None = None
    limit: Limit = 50


class ListFires(Request, frozen=True, kw_only=True):
    """Which page of the fires."""

    cursor: Cursor | None = None
    limit: Limit = 50
