"""The verdict over one run: the log by itself, against what customers were told, and against every store."""

from projections.postgres.fold import Current, fold
from projections.postgres.usage import Transaction
from projections.private import opener
from schemas.events import DeliveryAcked, JobSubmitted, ScheduleFired, WorkerAlive, WorkerLost
from schemas.recorded import Recorded
from services.ledger.policy import SECOND
from services.ledger.state import Ledger
from services.ledger.wire import REPLIES
from services.runtime.raw_log import Checkpoint
from services.runtime.topics import dead_letters, events
from tests.simulation.cancels import Cancels
from tests.simulation.chaos import SILENCING
from tests.simulation.clickhouse import Row
from tests.simulation.erased import Erased
from tests.simulation.folds import Folds
from tests.simulation.historian import Historian
from tests.simulation.history import History
from tests.simulation.owners import Owners
from tests.simulation.patches import DECODER
from tests.simulation.places import HOOKS
from tests.simulation.story import ERASURES, Story
from tests.simulation.world import START_MICROS, World

MOST_SAID = 20
NEVER = float("inf")
EMPTY = Checkpoint()
MILLISECOND = 0.001  # the broker's clock tells no more
TOLD = ("attempt", "dispatch", "step", "node_id", "boot_id", "reason", "destination_id", "try_number", "error_type")
TOLD_OF_FIRES = ("schedule_id", "due_at", "how", "outcome", "due_times", "code")


class Check:
    """Follows the log while it grows, and judges at the end."""

    def __init__(self, world: World) -> None:
        self._world = world
        partitions = world.broker.partitions(events(world.settings))
        self._histories = {number: History(number) for number in partitions}
        self._read = dict.fromkeys(partitions, 0)
        self._recorded: dict[int, list[Recorded]] = {number: [] for number in partitions}
        self._times: dict[int, list[float]] = {number: [] for number in partitions}
        self._owners, self._erased, self._folds = Owners(world), Erased(world), Folds(world)
        self.historian = Historian(world, self._folds)
        self._cancels = Cancels(world)
        self._rest: dict[int, int] = {}  # positions at which all but ClickHouse had come to rest
        self._alive: dict[tuple[int, str], int] = {}  # when a run of a worker last gave a sign of life, microseconds
        self._wrong: list[str] = []
        world.clients.reply_lands = self._reply
        world.restored = self._restored

    @property
    def events(self) -> int:
        """How many events there are."""
        return sum(map(len, self._recorded.values()))

    def quiet(self) -> bool:
        """Whether everything that was asked for is done and can be read."""
        self._follow()
        if not self._world.traffic.done or self._world.broker.down:
            return False
        jobs = self._jobs()
        if any(job not in jobs for job in self._world.traffic.accepted) or not self._world.schedules.quiet():
            return False
        if any(not job.terminal or job.unsettled() for job in jobs.values()):
            return False
        if self._world.traffic.junk != self._parked() or not self._erased.quiet() or self._world.vault.leftovers(jobs):
            return False
        checkpoints = self._world.model.checkpoints
        if any(
            history.position != (checkpoints[number].position if number in checkpoints else 0)
            for number, history in self._histories.items()
        ):
            return False
        return self._in_clickhouse()

    def _in_clickhouse(self) -> bool:
        """Whether ClickHouse has what there was when all else came to rest; signs of life of workers go on to come."""
        self._rest = self._rest or {number: each.position for number, each in self._histories.items()}
        held = self._world.house.checkpoints
        return all(held.get(number, EMPTY).position >= position for number, position in self._rest.items())

    def verdict(self) -> list[str]:
        """Return what is wrong."""
        self._follow()
        world = self._world
        wrong = [
            *world.cluster.faults,
            *world.traffic.complaints,
            *world.posted.verdict(),
            *world.site.side_by_side,
            *self.historian.wrong,
            *self._wrong,
        ]
        wrong += [each for history in self._histories.values() for each in history.wrong]
        fires = [each.event for each in self._everything() if isinstance(each.event, ScheduleFired)]
        wrong += world.schedules.verdict(fires)
        if not world.traffic.done:
            wrong.append("customers still wait for answers")
        wrong += self._owners.verdict() + self._of_jobs() + self._of_destinations() + self._of_the_read_model()
        wrong += [
            *self._erased.verdict(self._jobs(), self._folds.ledgers),
            *world.vault.verdict(self._jobs(), self._submitted(), world.broker),
            *self._folds.verdict(),
            *self._cancels.verdict(),
        ]
        wrong += [*world.modules.complaints, *world.spiders.complaints]
        wrong += [each for all_of in self._recorded.values() for each in world.spiders.verdict(all_of)]
        wrong += [each for number, all_of in self._recorded.items() for each in world.modules.verdict(number, all_of)]
        wrong += [*world.house.wrong, *world.house.missing(map(_row, self._everything()))]
        if world.traffic.junk != (parked := self._parked()):
            wrong.append(f"dead-lettered was {sorted(parked)}, unusable was {sorted(world.traffic.junk)}")
        return wrong[:MOST_SAID]

    def told(self) -> list[tuple[float, str]]:
        """Return everything that the log and the site tell of, with when it was."""
        told = [
            (at, f"    {number}:{_line(recorded)}")
            for number, all_recorded in self._recorded.items()
            for at, recorded in zip(self._times[number], all_recorded, strict=True)
        ]
        return told + [(at, f"        {who} calls for {job}") for at, who, job in self._world.site.calls]

    def _reply(self, value: bytes) -> None:
        """A reply may only leave once what it tells of is committed."""
        reply = REPLIES.decode(value)
        self._owners.hear(reply)
        entries = self._world.broker.partition(events(self._world.settings), reply.partition).entries
        for entry in reversed(entries if reply.position else ()):
            if entry.readable and entry.value and entry.headers:
                committed = DECODER.decode(entry.value)
                if committed and committed.header.position < reply.position:
                    self._wrong.append(f"{reply} left while the log was at {committed.header.position}")
                return

    def _restored(self, ledger: Ledger) -> None:
        self._follow()
        self._folds.compare(ledger)

    def _follow(self) -> None:
        for number, partition in self._world.broker.partitions(events(self._world.settings)).items():
            end = partition.stable_end
            for entry in partition.entries[self._read[number] : end]:
                if entry.readable and entry.value and entry.headers:  # without headers: a stranger's record
                    recorded = DECODER.decode(entry.value)
                    assert recorded is not None
                    self._recorded[number].append(recorded)
                    at = (entry.timestamp_ms - START_MICROS // 1000) / 1000
                    self._times[number].append(at)
                    self._histories[number].tell(recorded, entry.value)
                    self._folds.tell(recorded, entry.value)
                    self._see(recorded, at)
                    self._cancels.see(recorded, entry.transaction.decided_at if entry.transaction else at)
            self._read[number] = end

    def _see(self, recorded: Recorded, at: float) -> None:
        """An ACK may only stand in the log of what its destination holds; only a silent worker is given up."""
        event, world = recorded.event, self._world
        self._owners.see(recorded, at)
        self._erased.see(event, at)
        self._wrong += [*world.traffic.late.wrong(event), *world.posted.see(event, at)]
        if isinstance(event, DeliveryAcked):
            key = (event.org_id, event.job_id, event.destination_id, event.generation)
            stores = world.warehouse.stored, world.lake.stored, world.houses.stored
            held = min(store.get(key, NEVER) for store in stores)
            hook = event.destination_id.partition(":")[0] in HOOKS
            if event.destination_id not in ERASURES and not hook and held > at + MILLISECOND:
                self._wrong.append(f"{key} was acknowledged at {at} s, its destination had it at {held} s")
        self._heard_before_lost(recorded)
        if isinstance(event, WorkerLost) and not event.stopped and not SILENCING & world.chaos.weather.chances.keys():
            life = world.boots.get(event.boot_id)
            if life and not life.disturbed and at < life.ended_at:
                self._wrong.append(f"{life} was given up at {at} s, and lived until {life.ended_at} s")

    def _heard_before_lost(self, recorded: Recorded) -> None:
        """In any weather: whoever was heard has the time of a lease, up to what two looks at it may differ by."""
        event, at, settings = recorded.event, recorded.header.occurred_at, self._world.settings
        if isinstance(event, WorkerAlive):
            self._alive[recorded.header.partition, event.boot_id] = at
        if isinstance(event, WorkerLost) and not event.stopped:
            heard = self._alive.get((recorded.header.partition, event.boot_id), at)  # at: never before
            if at - heard < (settings.lease_seconds - settings.heartbeat_seconds) * SECOND:
                self._wrong.append(f"{event.boot_id} was given up at {at}, heard of at {heard} (microseconds)")

    def _submitted(self) -> list[JobSubmitted]:
        return [each.event for each in self._everything() if isinstance(each.event, JobSubmitted)]

    def _everything(self) -> list[Recorded]:
        return [each for number in self._recorded for each in self._recorded[number]]

    def _parked(self) -> set[tuple[str, int, int]]:
        letters = self._world.broker.partition(dead_letters(self._world.settings), 0).readable()
        origins = [dict(entry.headers) for _, entry in letters]
        origins = [said for said in origins if said["reason"] != b"archive_unavailable"]  # late answers, to nobody
        return {
            (said["origin-topic"].decode(), int(said["origin-partition"]), int(said["origin-offset"]))
            for said in origins
        }

    def _jobs(self) -> dict[str, Story]:
        return {name: job for history in self._histories.values() for name, job in history.jobs.items()}

    def _of_jobs(self) -> list[str]:
        jobs, traffic = self._jobs(), self._world.traffic
        wrong = [f"{job} was accepted and is lost" for job in traffic.accepted if job not in jobs]
        wrong += [f"{name} has not ended: {job.status}" for name, job in jobs.items() if not job.terminal]
        wrong += [
            f"{name} ({job.status}) still waits for {job.unsettled()}"
            for name, job in jobs.items()
            if job.terminal and job.unsettled()
        ]
        wrong += [
            f"{job} was said to be cancelled and is {jobs[job].status}"
            for job in traffic.cancelled
            if job in jobs and jobs[job].status != "cancelled"
        ]
        return wrong

    def _of_destinations(self) -> list[str]:
        wrong = [*self._world.lake.differences(self._jobs()), *self._world.houses.differences(self._jobs())]
        rows = self._world.warehouse.rows
        for name, job in self._jobs().items():
            if job.gone:
                continue  # its row is an empty one
            acked = [at for (place, at), told in job.deliveries.items() if place == "table" and told.ack]
            row = rows.get((job.org_id, name))
            if acked and (row is None or row.generation < max(acked)):
                wrong.append(f"{name}: generations {acked} are acknowledged, its row is {row}")
        return wrong

    def _of_the_read_model(self) -> list[str]:
        """Rows have to be what one fold of the whole log makes; so has a second, smaller fold of ours."""
        model = self._world.model
        whole = fold(Current(), self._everything(), opener(self._world.vault.keys))
        wrong = [
            f"read model: {name} differs from the fold of the log"
            for name, stored, folded in (
                ("jobs", model.jobs, whole.jobs),
                ("deliveries", model.deliveries, whole.deliveries),
                ("transitions", _sorted(model.transitions), _sorted(whole.transitions)),
                ("visits", _sorted(model.visits), _sorted(whole.visits)),
                ("deleted", model.deleted, whole.deleted),
                ("fires", model.fires, whole.fires),
                ("usage", model.usage, whole.usage),
                ("transactions", _by_position(model.transactions), _by_position(whole.transactions)),
            )
            if stored != folded
        ]
        for name, job in self._jobs().items():
            row = (model.deleted if job.deleted else model.jobs).get((job.org_id, name))
            said = (row.status, row.seq, row.attempt) if row else None
            if said != (job.status, job.seq, job.attempt):
                wrong.append(f"read model: {name} is {said}, the log says {job.status} {job.seq} {job.attempt}")
        for number, history in self._histories.items():
            checkpoint = model.checkpoints.get(number)
            if (checkpoint.position if checkpoint else 0) != history.position:
                wrong.append(f"read model: partition {number} is at {checkpoint}, the log at {history.position}")
        return wrong


def _by_position(rows: list[Transaction]) -> list[Transaction]:
    return sorted(rows, key=lambda row: (row.org_id, row.position))


def _row(recorded: Recorded) -> Row:
    header, event = recorded.header, recorded.event
    return Row(header.partition, header.position, header.event_type, event.org_id, event.job_id)


def _line(recorded: Recorded) -> str:
    header, event = recorded.header, recorded.event
    said = {name: getattr(event, name, "") for name in (*TOLD, *TOLD_OF_FIRES)}
    rest = " ".join(f"{name}={value}" for name, value in said.items() if value not in ("", 0))
    return f"{header.position} {header.event_type} {event.job_id or event.org_id} {rest} by {header.actor}"


def _sorted(rows: list) -> list:  # type: ignore[type-arg]
    return sorted(rows, key=lambda row: (row.partition, row.org_id, row.job_id, row.seq))
