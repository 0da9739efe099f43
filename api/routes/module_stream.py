"""The stream of a module job: Server-Sent Events that can be resumed on any instance."""

from functools import partial

from aiohttp import web

from api import positions
from api.http import without_deadline
from api.modules import stream_answers
from api.modules.feed import ItemFeed
from api.modules.problems import PREFIX
from api.modules.reading import stats_of
from api.modules.stream_answers import ModuleMessage
from api.operation import Call, Operation
from api.positions import Position
from api.routes.jobs import job_id_of
from api.routes.stream import RESUME
from api.stream_answers import MEDIA_TYPE, EndReason
from api.stream_viewer import Viewer
from api.tail import TailBehind

MOST_SECONDS = 6 * 3600.0  # of a stream; who wants more comes back


async def stream(call: Call) -> web.StreamResponse:
    """Tell what the job says and, every 2 s, how far it has come; at its end that once more, and `done`.

    `Last-Event-ID` goes on behind that position, on any instance; behind the end that is 204. After six hours, and
    where this instance stops, the stream ends without `done`: come back.
    """
    job_id = job_id_of(call)
    given = call.request.headers.get(RESUME, "")
    last = positions.named(given, RESUME) if given else None
    streams, settings = call.parts.streams, call.parts.settings
    with streams.admitted(call.caller):
        async with streams.item_feed(call.caller, job_id, partial(stats_of, call.parts.blobs)) as feed:
            known = last is None or await _known(call, feed, last)
            if feed.ended and known and last and last.position > feed.end:
                return web.Response(status=204)
            viewer = Viewer(
                call.request,
                streams,
                feed,
                Words(),
                allowed=lambda: streams.check(call.request.headers.get("Authorization", "")),
                keepalive_seconds=settings.stream_keepalive_seconds,
                slow_seconds=settings.stream_slow_seconds,
                most_seconds=MOST_SECONDS,
            )
            place, past = feed.joined(last.position if last and known else None)
            said = b"" if known else stream_answers.error("unknown_position")
            return await viewer.show(said, place, without_deadline(), past)


class Words:
    """A viewer that fell behind comes back with its last id: what it missed is read for it then."""

    async def behind(self) -> None:
        """Let it come back."""

    def closing(self, reason: EndReason) -> bytes:
        """Say why."""
        return stream_answers.closing(reason)


async def _known(call: Call, feed: ItemFeed, last: Position) -> bool:
    """Tell whether a stream can go on behind a position."""
    if last.partition != call.caller.partition:
        return False
    if feed.ended and last.position <= feed.end + 1:
        return True
    try:
        return await call.parts.streams.knows(last)
    except TailBehind:
        return True  # this instance has not read so far: what lies behind it follows in any case


OPERATIONS = (
    Operation(
        method="GET",
        path=f"{PREFIX}/{{job_id}}/stream",
        summary="Follow a module job as Server-Sent Events",
        access="read",
        handler=stream,
        positioned=True,
        media_type=MEDIA_TYPE,
        headers=(RESUME,),
        answers={200: ModuleMessage, 204: None},
        errors=("not_found", "invalid_position", "too_many_streams", "catching_up"),
    ),
)
