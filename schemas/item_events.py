"""The events of jobs that record items: what is planned, what came of it and was said, and where another goes on."""

from typing import Annotated, TypeAlias

from msgspec import Struct

from schemas.event import Event
from schemas.values import doc


class Adopted(Struct, frozen=True, kw_only=True, gc=False):
    """A job whose chunks of items another one goes on from."""

    job_id: Annotated[str, doc("the job that recorded them")] = ""
    chunks: Annotated[int, doc("how many of its chunks, from its first on")] = 0
    next_item: Annotated[int, doc("the planned item from which on its outcomes do not count any more")] = 0


class ItemsPlanned(Event, frozen=True, kw_only=True, gc=False):
    """The items that a job goes through are known, and do not change any more."""

    plan_ref: Annotated[str, doc("blob key of the planned items")] = ""
    planned: Annotated[int, doc("how many there are")] = 0
    plan_bytes: Annotated[int, doc("size of that blob in bytes")] = 0


class ItemsRecorded(Event, frozen=True, kw_only=True, gc=False):
    """A chunk of planned items is done, each with its outcome: an attempt that comes later goes on behind it.

    A spider plans nothing: each item that it scraped counts as planned and done.
    """

    chunk: Annotated[int, doc("ordinal of this chunk within the job, from 0")] = 0
    items_ref: Annotated[str, doc("blob key of the chunk: results, outcomes and statistics, one behind the other")] = ""
    rows_bytes: Annotated[int, doc("size of the results in it: JSON lines, zstd")] = 0
    outcomes_bytes: Annotated[int, doc("size of the outcomes behind them: JSON lines, zstd")] = 0
    stats_bytes: Annotated[int, doc("size of the statistics at its end: JSON, zstd")] = 0
    digest: Annotated[bytes, doc("BLAKE2b-128 of the chunk as it is stored")] = b""
    first_item: Annotated[int, doc("ordinal of its first planned item, from 0")] = 0
    next_item: Annotated[int, doc("ordinal of the planned item that comes after it")] = 0
    first_row: Annotated[int, doc("ordinal of its first result, from 0, counted from the first job of the chain")] = 0
    rows: Annotated[int, doc("how many results are in it")] = 0
    errors: Annotated[int, doc("how many of its planned items errored or were never started")] = 0
    resume_item: Annotated[int, doc("the planned item after the last that succeeded, in this chunk or before")] = 0
    errors_before: Annotated[int, doc("how many planned items before that one did not succeed")] = 0
    surcharge: Annotated[int, doc("credits debited by this event for the items that succeeded")] = 0


class JobLogged(Event, frozen=True, kw_only=True, gc=False):
    """A job said something, some lines at a time: level, message and timestamp of each.

    `private` holds them, or a blob does where there may be many.
    """

    number: Annotated[int, doc("ordinal of this event among those of its kind within the job, from 0")] = 0
    lines: Annotated[int, doc("how many lines it holds")] = 0
    lines_ref: Annotated[str, doc("blob key of the lines: JSON lines, zstd; empty: they are in `private`")] = ""
    lines_bytes: Annotated[int, doc("size of that blob in bytes")] = 0
    levels: Annotated[
        tuple[int, ...], doc("how many lines of each level: debug, info, warning, error, critical; empty: not counted")
    ] = ()


class StatsRecorded(Event, frozen=True, kw_only=True, gc=False):
    """Statistics of a run so far; the newest count. `private` holds them as an object."""

    number: Annotated[int, doc("ordinal of this event among those of its kind within the job, from 0")] = 0
    scraped: Annotated[int, doc("how many items were scraped so far, those included that no chunk holds yet")] = 0
    final: Annotated[bool, doc("whether the run has ended and no others follow")] = False
    routed: Annotated[int, doc("how many requests went through the unblocker so far")] = 0
    surcharge: Annotated[int, doc("credits debited by this event for those since the event of its kind before")] = 0


class JobContinued(Event, frozen=True, kw_only=True, gc=False):
    """The job, submitted just before, goes on where another one ended: with its plan, and its chunks by reference."""

    source_job_id: Annotated[str, doc("the job that it goes on from")] = ""
    chain_id: Annotated[str, doc("the first job of the chain: the blobs of all its items are under it")] = ""
    link: Annotated[int, doc("which attempt of its chain it is, from 1")] = 0
    adopts: Annotated[tuple[Adopted, ...], doc("the chunks that are its own too, in their order")] = ()
    plan_ref: Annotated[str, doc("blob key of the planned items; empty: nothing was planned yet")] = ""
    planned: Annotated[int, doc("how many there are")] = 0
    next_item: Annotated[int, doc("the planned item that it begins with")] = 0
    rows: Annotated[int, doc("how many results it has adopted")] = 0
    errors: Annotated[int, doc("how many planned items before `next_item` did not succeed")] = 0
    result_bytes: Annotated[int, doc("size of the adopted chunks in bytes")] = 0
    digest: Annotated[bytes, doc("digest over the adopted chunks; empty: none")] = b""
    newest_ref: Annotated[str, doc("blob key of the newest adopted chunk; empty: none")] = ""
    newest_stats_bytes: Annotated[int, doc("size of the statistics at its end")] = 0


ItemEvent: TypeAlias = ItemsPlanned | ItemsRecorded | JobLogged | StatsRecorded | JobContinued
