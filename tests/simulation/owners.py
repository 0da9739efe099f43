"""Whether attempts belong to whom the log says: grants go to the claimer, and no page is called for twice in one."""

import contextlib
from collections import Counter

from schemas import events as e
from services.ledger.replies import Granted, Reply
from services.ledger.wire import COMMANDS, BadMessage
from services.runtime.topics import commands
from tests.simulation.world import World

Attempt = tuple[str, int]  # job, fencing number


class Owners:
    """Sees the log and hears the replies."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._grants: list[Reply] = []
        self._claims: dict[Attempt, str] = {}  # the run of a worker that claimed it
        self._visits: Counter[Attempt] = Counter()  # of nodes that call for a page
        self._told: set[Attempt] = set()  # of which all visits were told

    def hear(self, reply: Reply) -> None:
        """Note a grant."""
        if isinstance(reply.body, Granted):
            self._grants.append(reply)

    def see(self, event: e.AnyEvent) -> None:
        """Note what an event says of an attempt."""
        attempt = event.job_id, event.attempt
        match event:
            case e.JobClaimed():
                self._claims[attempt] = event.boot_id
            case e.NodeFinished(node_kind="service"):
                self._visits[attempt] += 1
            case e.JobExtracted():
                self._told.add(attempt)
            case e.RetryScheduled() if event.error_type != "blobs_unavailable":  # its page was called for all the same
                self._told.add(attempt)

    def verdict(self) -> list[str]:
        """Return what is wrong."""
        return self._grants_to_others() + self._second_calls()

    def _grants_to_others(self) -> list[str]:
        asked: dict[str, str] = {}  # id of a command -> its job
        for partition in self._world.broker.partitions(commands(self._world.settings)).values():
            for entry in partition.entries:
                with contextlib.suppress(BadMessage):
                    command = COMMANDS.decode(entry.value)
                    asked[command.command_id] = command.job_id
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
