"""Whether a cancel is obeyed: no provider is called for the job once its worker was told, or could have been.

Two bounds. A worker that has read the word that its job was cancelled begins no call for it any more, in any weather.
And no call begins later than one heartbeat, and the time of its answer, after the cancel was committed: counted from
the commit, or from the end of whatever kept worker and decider from hearing each other since: processes that were
killed, stopped or stood still, and what happened to heartbeats of this worker and to their answers (DEAFENS, below).
The word that nobody asked for may get lost: the next heartbeat makes up for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter

from schemas import events as e
from schemas.recorded import Recorded
from services.ledger.commands import AnnounceWorker
from services.ledger.replies import Drop
from services.ledger.wire import COMMANDS, REPLIES
from services.runtime.ledger_watch import ANSWER_SECONDS
from services.runtime.topics import replies
from tests.simulation.chaos import Fault
from tests.simulation.life import Life
from tests.simulation.world import World

HEARD_SECONDS = 0.5  # that a heartbeat and its answer take where nothing is in their way
INSTANT = 0.001  # what was on its way at that moment
DEAFENS: dict[Fault, float] = {  # for how long at most, in seconds
    "command_unacknowledged": 5.0,
    "command_not_landed": 5.0,
    "command_late": 9.0,
    "reply_lost": 0.0,  # what was lost is asked for again
    "reply_twice": 0.0,
    "reply_late": 6.0,
    "slow_call": 4.0,
    "slow_marker": 2.0,
}
Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Cancel:
    """A cancel of a job that a worker had claimed."""

    job_id: str
    partition: int
    position: int
    at: float  # seconds: when it was committed
    boot_id: str


class Cancels:
    """Sees the log and what workers hear."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._owners: dict[str, str] = {}  # by job: the run of a worker that runs it
        self._cancels: list[Cancel] = []
        self._drops: list[tuple[Life, str, int, float]] = []  # who was told of which job, as of which position, when
        world.clients.read = self._hear

    def see(self, recorded: Recorded, committed_at: float) -> None:
        """Note claims, and cancels while claimed."""
        header, event = recorded.header, recorded.event
        match event:
            case e.JobClaimed():
                self._owners[event.job_id] = event.boot_id
            case e.JobReleased() | e.RetryScheduled() | e.JobExtracted():
                self._owners.pop(event.job_id, None)
            case e.JobCancelled() if owner := self._owners.pop(event.job_id, ""):
                cancel = Cancel(event.job_id, header.partition, header.position, committed_at, owner)
                self._cancels.append(cancel)

    def verdict(self) -> Iterator[str]:
        """Yield the calls that began too late."""
        lives = {repr(life): life for life in self._world.boots.values()}
        calls: dict[str, list[tuple[float, Life]]] = {}
        for at, who, job in self._world.site.calls:
            calls.setdefault(job, []).append((at, lives[who]))
        for cancel in self._cancels:
            for at, life in calls.get(cancel.job_id, []):
                if at > (told := self._told(cancel, life)):
                    yield f"{life} was told at {told} s that {cancel.job_id} is cancelled, and calls for it at {at} s"
                elif at > (until := self._until(cancel, life)):
                    yield f"{life} calls for {cancel.job_id} at {at} s, cancelled at {cancel.at} s: after {until} s"

    def _hear(self, life: Life, topic: str, value: bytes) -> None:
        if topic != replies(self._world.settings) or not life.name.startswith("worker"):
            return
        reply = REPLIES.decode(value)
        if isinstance(reply.body, Drop) and not reply.command_id and self._world.boots.get(reply.requester) is life:
            now = self._world.loop.time()
            self._drops += [(life, job, reply.position, now) for job in reply.body.job_ids]

    def _told(self, cancel: Cancel, life: Life) -> float:
        """Return from when on a run of a worker knew of a cancel, by a word that nobody had asked for."""
        heard = [
            at
            for who, job, position, at in self._drops
            if who is life and job == cancel.job_id and position >= cancel.position
        ]
        if not heard:
            return float("inf")
        first = min(heard)
        return max([first, *(end for start, end in life.pauses if start <= first <= end)]) + INSTANT

    def _until(self, cancel: Cancel, life: Life) -> float:
        """Return until when calls may begin, by the clock."""
        patience = self._world.settings.heartbeat_seconds + HEARD_SECONDS
        until = cancel.at + patience
        for start, end in sorted(self._deaf(cancel.partition, life), key=itemgetter(0)):
            if end >= cancel.at and start <= until:
                until = max(until, end + ANSWER_SECONDS + patience)
        return until

    def _of_its_heartbeat(self, fault: Fault, message: bytes, partition: int, life: Life) -> bool:
        """Whether a message is a heartbeat of this worker, or the answer of a partition to what it asked."""
        if fault.startswith("reply"):
            reply = REPLIES.decode(message)
            about = bool(reply.command_id) and reply.partition == partition
            return about and self._world.boots.get(reply.requester) is life
        command = COMMANDS.decode(message)
        return isinstance(command, AnnounceWorker) and self._world.boots.get(command.boot_id) is life

    def _deaf(self, partition: int, life: Life) -> Iterator[Span]:
        """Yield when this worker and the decider of its job could not hear each other."""
        world = self._world
        yield from world.broker.outages
        yield from life.pauses
        for at, fault, message in world.chaos.struck:
            if fault in DEAFENS and (not message or self._of_its_heartbeat(fault, message, partition, life)):
                yield (at, at + DEAFENS[fault])
        gone = 0.0
        for decider, number, opened_at, _ in world.memories:
            if number == partition:
                yield (gone, opened_at)
                yield from decider.pauses
                gone = decider.ended_at
        yield (gone, float("inf"))
