"""The stream of a job: Server-Sent Events that can be resumed on any instance."""

import logging

from aiohttp import web

from api import positions, shown
from api.errors import not_found
from api.http import without_deadline
from api.operation import Call, Operation
from api.positions import Position
from api.routes.jobs import job_id_of
from api.stream_answers import MEDIA_TYPE, EndReason, ResetReason, StreamClosing, StreamMessage, StreamReset, sse
from api.stream_feed import JobFeed
from api.stream_viewer import Viewer
from api.tail import TailBehind
from services.runtime.metrics import count

log = logging.getLogger(__name__)
RESUME = "Last-Event-ID"
RECONNECT: dict[EndReason, bool] = {"shutdown": True, "fault": True, "deleted": False, "unauthenticated": False}


async def stream(call: Call) -> web.StreamResponse:
    """Send a snapshot of the job, then each of its events once, until it ends; 204 where there is nothing to send.

    `Last-Event-ID` goes on behind that position, on any instance. A job that had ended before is 204: read it.
    """
    job_id = job_id_of(call)
    given = call.request.headers.get(RESUME, "")
    last = positions.named(given, RESUME) if given else None
    streams, settings = call.parts.streams, call.parts.settings
    with streams.admitted(call.caller):
        async with streams.feed(call.caller, job_id) as feed:
            reset = await _reset(call, feed, last) if last else None
            if feed.ended and not reset and (last is None or last.position >= feed.position):
                return web.Response(status=204)
            snapshots = Snapshots(call, job_id)
            viewer = Viewer(
                call.request,
                streams,
                feed,
                snapshots,
                allowed=lambda: streams.check(call.request.headers.get("Authorization", "")),
                keepalive_seconds=settings.stream_keepalive_seconds,
                slow_seconds=settings.stream_slow_seconds,
            )
            said, place = (b"", last.position) if last and not reset else await snapshots.anew(reset)
            return await viewer.show(said, place, without_deadline())


class Snapshots:
    """Begins anew with the job as it is, where events are missing."""

    def __init__(self, call: Call, job_id: str) -> None:
        self._call, self._job_id = call, job_id

    async def behind(self) -> tuple[bytes, int]:
        """Begin anew."""
        return await self.anew("slow")

    async def anew(self, reset: ResetReason | None) -> tuple[bytes, int]:
        """Return a snapshot, behind a reset where one is due, and the position behind which events follow."""
        said = b""
        if reset:
            count("stream_resets", reason=reset)
            log.info("stream reset", extra={"reason": reset})
            said = sse("reset", StreamReset(reason=reset))
        data, place = await _snapshot(self._call, self._job_id)
        return said + data, place

    def closing(self, reason: EndReason) -> bytes:
        """Say why, and whether to come back."""
        return sse("close", StreamClosing(reason=reason, reconnect=RECONNECT[reason]))


async def _reset(call: Call, feed: JobFeed, last: Position) -> ResetReason | None:
    """Return why the stream cannot go on behind a position, or None where it can."""
    if last.partition != call.caller.partition:
        return "other_partition"
    if feed.after(last.position) is None:
        return "too_old"
    try:
        known = await call.parts.streams.knows(last)
    except TailBehind:
        return None  # this instance has not read so far: what lies behind it follows in any case
    return None if known else "unknown"


async def _snapshot(call: Call, job_id: str) -> tuple[bytes, int]:
    """Return the job as `GET` answers it; the event that ended it follows in any case."""
    detail = await call.parts.jobs.find(call.caller, job_id)
    if detail is None:
        raise not_found("job")
    at = detail.job.position
    ends = [row.position for row in detail.transitions if row.seq == detail.job.finished_seq]
    return sse("snapshot", shown.job(detail), Position(detail.job.partition, at)), min([at, *(end - 1 for end in ends)])


OPERATIONS = (
    Operation(
        method="GET",
        path="/api/v1/jobs/{job_id}/stream",
        summary="Follow a job as Server-Sent Events",
        access="read",
        handler=stream,
        positioned=True,
        media_type=MEDIA_TYPE,
        headers=(RESUME,),
        answers={200: StreamMessage, 204: None},
        errors=("not_found", "invalid_position", "too_many_streams", "catching_up"),
    ),
)
