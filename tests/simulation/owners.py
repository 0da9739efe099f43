"""Whether attempts belong to whom the log says: grants go to the claimer, its reports count, a page is called once."""

import contextlib
from collections import Counter

from schemas import events as e
from schemas.recorded import Recorded
from schemas.values import ReleaseReason
from services.ledger.commands import AnyCommand, ReportProgress
from services.ledger.replies import Granted, Reply
from services.ledger.wire import COMMANDS, BadMessage
from services.runtime.topics import commands
from tests.simulation.world import World

Attempt = tuple[str, int]  # job, fencing number
REPORTED = (e.NodeFinished, e.RetryScheduled, e.JobExtracted, e.JobFailed)


class Owners:
    """Sees the log and hears the replies."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._grants: list[Reply] = []
        self._claims: dict[Attempt, str] = {}  # the run of a worker that claimed it
        self._visits: Counter[Attempt] = Counter()  # of nodes that call for a page
        self._told: set[Attempt] = set()  # of which all visits were told
        self._reported: list[Recorded] = []  # what workers' reports led to
        self._taken: list[
            tuple[e.JobEvent, str]
        ] = []  # from which run of a worker; it is given up next, or ought to be
        self._ours: list[str] = []  # what failed a job that nobody but us can be blamed for
        self._given_back: list[tuple[e.JobReleased, float]] = []  # with time

    def hear(self, reply: Reply) -> None:
        """Note a grant."""
        if isinstance(reply.body, Granted):
            self._grants.append(reply)

    def see(self, recorded: Recorded, at: float) -> None:
        """Note what an event says of an attempt."""
        event = recorded.event
        attempt = event.job_id, event.attempt
        late = isinstance(event, e.JobFailed) and event.error_type == "queue_expired"  # a claim came too late
        if isinstance(event, REPORTED) and recorded.header.actor.startswith("worker:") and not late:
            self._reported.append(recorded)
        match event:
            case e.JobClaimed():
                self._claims[attempt] = event.boot_id
            case e.NodeFinished(node_kind="service"):
                self._visits[attempt] += 1
            case e.JobReleased(reason=ReleaseReason.LEASE_EXPIRED) | e.JobFailed(error_type="worker_lost"):
                self._taken.append((event, self._claims[attempt]))
            case e.JobReleased():
                self._given_back.append((event, at))
            case e.JobFailed(error_type="internal" | "workflow_invalid"):
                self._ours.append(f"{event.job_id} {event.attempt} failed by {event.error_type}")
            case e.WorkerLost():
                self._taken = [each for each in self._taken if each[1] != event.boot_id]
            case e.JobExtracted():
                self._told.add(attempt)
            case e.RetryScheduled() if event.error_type != "blobs_unavailable":  # its page was called for all the same
                self._told.add(attempt)

    def verdict(self) -> list[str]:
        """Return what is wrong."""
        asked = self._commands()
        return (
            self._ours
            + self._grants_to_others(asked)
            + self._reports_of_others(asked)
            + self._second_calls()
            + self._taken_from_the_living()
        )

    def _taken_from_the_living(self) -> list[str]:
        """A worker that is not given up keeps its jobs, in whatever order its words are read, or words to it.

        It gives one back itself when it is told to stop, or that the job was taken from it: which this one was not.
        """
        wrong = [
            f"{event.job_id} {event.attempt} was taken from {boot}, which kept the others"
            for event, boot in self._taken
        ]
        for event, at in self._given_back:
            life = self._world.boots.get(event.boot_id)
            if life and not life.disturbed and at < life.ended_at:
                wrong.append(f"{life} gave back {event.job_id} {event.attempt} at {at} s, which nobody took from it")
        return wrong

    def _commands(self) -> dict[tuple[int, int], AnyCommand]:
        """Return what was asked, by partition and offset."""
        asked = {}
        for number, partition in self._world.broker.partitions(commands(self._world.settings)).items():
            for offset, entry in enumerate(partition.entries):
                with contextlib.suppress(BadMessage):
                    asked[number, offset] = COMMANDS.decode(entry.value)
        return asked

    def _reports_of_others(self, commands_by_place: dict[tuple[int, int], AnyCommand]) -> list[str]:
        wrong = []
        for recorded in self._reported:
            header, event = recorded.header, recorded.event
            claimed = event.job_id, event.attempt, self._claims.get((event.job_id, event.attempt))
            report = commands_by_place.get((header.partition, header.cause))
            of = (report.job_id, report.attempt, report.boot_id) if isinstance(report, ReportProgress) else None
            if of != claimed:
                wrong.append(f"{header.event_type} of the claim {claimed} came of a report of {of}")
        return wrong

    def _grants_to_others(self, commands_by_place: dict[tuple[int, int], AnyCommand]) -> list[str]:
        asked = {command.command_id: command.job_id for command in commands_by_place.values()}
        wrong = []
        for grant in self._grants:
            if isinstance(grant.body, Granted):
                attempt = asked[grant.command_id], grant.body.attempt
                if self._claims.get(attempt) != grant.requester:
                    wrong.append(f"{grant.requester} was granted {attempt}, which {self._claims.get(attempt)} claimed")
        return wrong

    def _second_calls(self) -> list[str]:
        """Compare calls and visits where every attempt of a worker at a job was told to its end."""
        lives = {boot: repr(life) for boot, life in self._world.boots.items()}
        calls = Counter((who, job) for _, who, job in self._world.site.calls)
        wrong = []
        for (who, job), number in calls.items():
            own = [attempt for attempt, boot in self._claims.items() if attempt[0] == job and lives.get(boot) == who]
            visits = sum(self._visits[attempt] for attempt in own)
            if own and self._told.issuperset(own) and number > visits:
                wrong.append(f"{who} called {number} times for {job} and told of {visits}")
        return wrong
